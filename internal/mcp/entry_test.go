package mcp_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/mcp"
)

func TestAddEntry(t *testing.T) {
	e := mcp.Entry{Command: "/bin/unitask", Args: []string{"mcp"}}
	const ours = `"unitask": {
      "command": "/bin/unitask",
      "args": [
        "mcp"
      ]
    }`
	tests := []struct{ name, settings, want string }{
		{"no settings", " \n", "{\n  \"s\": {\n    " + ours + "\n  }\n}\n"},
		{"an empty section", `{"s":null}`, "{\n  \"s\": {\n    " + ours + "\n  }\n}\n"},
		{
			"others before and after",
			`{"z":12345678901234567890.10,"s":{"other":{"b":1,"a":"\u00e9"},"unitask":{"command":"old"},"last":{}},"a":[1]}`,
			"{\n  \"z\": 12345678901234567890.10,\n  \"s\": {\n    \"other\": {\n      \"b\": 1,\n      \"a\": \"\\u00e9\"\n    },\n    " + ours +
				",\n    \"last\": {}\n  },\n  \"a\": [\n    1\n  ]\n}\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mcp.AddEntry([]byte(tt.settings), "s", "unitask", e)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
	for _, wrong := range []string{`[]`, `{"s":[]}`, "{}\n// a comment", `{"s":{},}`, `{"s":{},"s":{}}`} {
		if got, err := mcp.AddEntry([]byte(wrong), "s", "unitask", e); err == nil {
			t.Errorf("%s became %s", wrong, got)
		}
	}
}

// readSettings decodes numbers as they are written, for a float64 doesn't hold each of them.
func readSettings(raw []byte) (all map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&all)
	return all, err
}

// FuzzAddEntry changes one entry alone, and makes no change the second time.
func FuzzAddEntry(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"s":{"a":{"x":1}},"b":[1e999,null]}`, `{"s":{"unitask":1}}`, `{"s":1}`, `{"unitask":{"s":{}}}`} {
		f.Add([]byte(seed))
	}
	e := mcp.Entry{Type: "stdio", Command: "unitask", Args: []string{"mcp", "--profile", "a"}}
	f.Fuzz(func(t *testing.T, settings []byte) {
		got, err := mcp.AddEntry(settings, "s", "unitask", e)
		if err != nil {
			return
		}
		before, err := readSettings(settings)
		if err != nil {
			before = map[string]any{} // only white space
		}
		after, err := readSettings(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", settings, got, err)
		}
		if diff := cmp.Diff(map[string]any{"type": "stdio", "command": "unitask", "args": []any{"mcp", "--profile", "a"}}, takeEntry(after)); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
		takeEntry(before)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("others (-before +after):\n%s", diff)
		}
		again, err := mcp.AddEntry(got, "s", "unitask", e)
		if err != nil || string(again) != string(got) {
			t.Errorf("a second time: %q, %v, want %q", again, err, got)
		}
	})
}

// takeEntry returns our entry without it and an emptied section.
func takeEntry(all map[string]any) any {
	section, _ := all["s"].(map[string]any)
	entry := section["unitask"]
	delete(section, "unitask")
	if len(section) == 0 {
		delete(all, "s")
	}
	return entry
}
