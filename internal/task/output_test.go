package task_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/task"
)

func file(id string) task.Artifact { return task.Artifact{ID: id, ContentType: "image/png"} }

// TestParts writes the parts of a result, and reads the outputs of former records, which were these parts.
func TestParts(t *testing.T) {
	all := task.Parts{
		Text: new("a \"b\"\n"), FinishReason: "stop", Segments: []task.Segment{{Start: 0.5, End: 1, Text: "a"}},
		Words:  []task.Segment{{Start: 0.5, End: 1, Text: "a", Speaker: "A"}},
		Images: []task.Artifact{file("art_1"), file("art_2")}, Videos: []task.Artifact{file("art_3")}, Audio: new(file("art_4")),
		Embeddings: [][]float32{{0.25, -1}},
	}
	for _, tt := range []struct {
		name  string
		parts task.Parts
		want  task.Output
	}{
		{"a text", task.Parts{Text: new("")}, task.Output{JSON: json.RawMessage(`{"text":""}`)}},
		{"a picture", task.Parts{Images: []task.Artifact{file("art_1")}}, task.Output{
			JSON: json.RawMessage(`{"images":[{"artifact":"art_1"}]}`), Files: []task.Artifact{file("art_1")},
		}},
		{"vectors", task.Parts{Embeddings: [][]float32{{1, 0.5}}}, task.Output{JSON: json.RawMessage(`{"embeddings":[[1,0.5]]}`)}},
		{"all", all, task.Output{
			JSON: json.RawMessage(`{"text":"a \"b\"\n","finish_reason":"stop","segments":[{"start":0.5,"end":1,"text":"a"}],` +
				`"words":[{"start":0.5,"end":1,"text":"a","speaker":"A"}],` +
				`"images":[{"artifact":"art_1"},{"artifact":"art_2"}],"videos":[{"artifact":"art_3"}],"audio":{"artifact":"art_4"},` +
				`"embeddings":[[0.25,-1]]}`),
			Files: []task.Artifact{file("art_1"), file("art_2"), file("art_3"), file("art_4")},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.parts.Output()
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			former, err := json.Marshal(tt.parts)
			if err != nil {
				t.Fatal(err)
			}
			var read task.Output
			err = json.Unmarshal(former, &read)
			if diff := cmp.Diff(tt.want, read); diff != "" || err != nil {
				t.Errorf("of a former record: %v (-want +got):\n%s", err, diff)
			}
			stored, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			read = task.Output{}
			err = json.Unmarshal(stored, &read)
			if diff := cmp.Diff(tt.want, read); diff != "" || err != nil {
				t.Errorf("of a record: %v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := (task.Parts{Embeddings: [][]float32{{float32(math.NaN())}}}).Output(); err == nil {
		t.Error("a vector that is no number was written")
	}
}

// TestPackedVectors reads the base64 of vectors as a client would.
func TestPackedVectors(t *testing.T) {
	vectors := [][]float32{{1, -0.5, 1e-30}, {0, math.MaxFloat32, 3}}
	out, err := task.Parts{Embeddings: vectors, Packed: true}.Output()
	if err != nil || !strings.Contains(string(out.JSON), `"AACAPwAAAL9gQqIN"`) {
		t.Fatalf("%s, %v", out.JSON, err)
	}
	var read struct{ Embeddings [][]byte }
	if err := json.Unmarshal(out.JSON, &read); err != nil {
		t.Fatal(err)
	}
	var got [][]float32
	for _, b := range read.Embeddings {
		v := make([]float32, len(b)/4)
		if _, err := binary.Decode(b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	if diff := cmp.Diff(vectors, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOutputNames has an open output whose members have the names of a record's: it is no record.
func TestOutputNames(t *testing.T) {
	out := task.Output{JSON: json.RawMessage(`{"json":{"text":"no"},"files":[{"id":"art_1"}]}`)}
	stored, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	var read task.Output
	err = json.Unmarshal(stored, &read)
	if diff := cmp.Diff(out, read); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestFilled fills in artifacts where they stand, and in no text that looks like them.
func TestFilled(t *testing.T) {
	out := task.Output{
		JSON:  json.RawMessage(`{"pages":[{"picture":{"artifact":"art_1"},"text":"{\"artifact\":\"art_1\"}"},{"artifact":"art_12"},{"artifact":"art_3"}]}`),
		Files: []task.Artifact{file("art_1"), file("art_12")},
	}
	got := out.Filled(func(a task.Artifact) []byte { return []byte(`<` + a.ID + `>`) })
	want := `{"pages":[{"picture":<art_1>,"text":"{\"artifact\":\"art_1\"}"},<art_12>,{"artifact":"art_3"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOutputText finds the text of an output that has one.
func TestOutputText(t *testing.T) {
	for _, tt := range []struct {
		json string
		want *string
	}{
		{`{"text":"a\n","finish_reason":"stop"}`, new("a\n")},
		{`{"data":{"text":"inner"},"text":"outer"}`, new("outer")},
		{`{"text":{"text":"inner"}}`, nil},
		{`{"text":null}`, nil},
		{`["text"]`, nil},
		{``, nil},
	} {
		out := &task.Output{JSON: json.RawMessage(tt.json)}
		if diff := cmp.Diff(tt.want, out.Text()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.json, diff)
		}
	}
	if (*task.Output)(nil).Text() != nil || (*task.Output)(nil).Artifacts() != nil {
		t.Error("no output has a text or artifacts")
	}
}
