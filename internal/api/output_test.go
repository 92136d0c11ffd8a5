package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
)

func artifactJSON(id string) string {
	return fmt.Sprintf(`{"id":%q,"url":"https://a.example/%s","content_type":"image/png","bytes":3,"sha256":"00","width":null,"height":null,`+
		`"duration_seconds":null,"expires_at":"2026-01-02T03:04:05.000Z"}`, id, id)
}

func artifact(id string) api.Artifact {
	var a api.Artifact
	if err := json.Unmarshal([]byte(artifactJSON(id)), &a); err != nil {
		panic(err)
	}
	return a
}

// TestOutputRead reads outputs of built-in capabilities by their members, and finds the files of any other.
func TestOutputRead(t *testing.T) {
	one, two := artifactJSON("art_1"), artifactJSON("art_2")
	for _, tt := range []struct {
		name, json string
		want       api.Output
		files      []string
	}{
		{"a chat", `{"text":"a","finish_reason":"stop"}`, api.Output{Text: new("a"), FinishReason: "stop"}, nil},
		{
			"a transcript", `{"text":"a","segments":[{"start":0,"end":1.5,"text":"a"}]}`,
			api.Output{Text: new("a"), Segments: []task.Segment{{End: 1.5, Text: "a"}}},
			nil,
		},
		{
			"a transcript by speakers", `{"text":"a","segments":[{"start":0,"end":1.5,"text":"a","speaker":"A"}],"words":[{"start":0,"end":1,"text":"a"}]}`,
			api.Output{Text: new("a"), Segments: []task.Segment{{End: 1.5, Text: "a", Speaker: "A"}}, Words: []task.Segment{{End: 1, Text: "a"}}},
			nil,
		},
		{"words of another form", `{"text":"a","words":[{"start":0,"end":1,"word":"a"}]}`, api.Output{Text: new("a"), Open: true}, nil},
		{"vectors", `{"embeddings":[[0.5]]}`, api.Output{Embeddings: [][]float32{{0.5}}}, nil},
		{"pictures", `{"images":[` + one + `,` + two + `]}`, api.Output{Images: []api.Artifact{artifact("art_1"), artifact("art_2")}}, []string{"art_1", "art_2"}},
		{"a sound", `{"audio":` + one + `}`, api.Output{Audio: new(artifact("art_1"))}, []string{"art_1"}},
		{"other members", `{"results":[{"index":0,"score":0.5}]}`, api.Output{Open: true}, nil},
		{
			"data", `{"text":"{}","data":{"a":1},"finish_reason":"stop"}`,
			api.Output{Text: new("{}"), Data: json.RawMessage(`{"a":1}`), FinishReason: "stop"},
			nil,
		},
		{
			"a file in data", `{"data":{"a":` + one + `}}`,
			api.Output{Data: json.RawMessage(`{"a":` + one + `}`), Files: []api.Artifact{artifact("art_1")}},
			[]string{"art_1"},
		},
		{"a text beside others", `{"score":1,"text":"a"}`, api.Output{Text: new("a"), Open: true}, nil},
		{
			"files among others", `{"pages":[{"picture":` + two + `,"text":"{"},{"picture":` + one + `}]}`,
			api.Output{Open: true, Files: []api.Artifact{artifact("art_2"), artifact("art_1")}},
			[]string{"art_2", "art_1"},
		},
		{
			"other values of known names", `{"audio":"loud","embeddings":"b64","images":["a.png"],"segments":3,"text":{"a":1},"videos":[{"id":"art_1"}]}`,
			api.Output{Open: true},
			nil,
		},
		{"no object", `[` + one + `,1]`, api.Output{Open: true, Files: []api.Artifact{artifact("art_1")}}, []string{"art_1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got api.Output
			if err := json.Unmarshal([]byte(tt.json), &got); err != nil {
				t.Fatal(err)
			}
			tt.want.JSON = json.RawMessage(tt.json)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var files []string
			for _, a := range got.Artifacts() {
				files = append(files, a.ID)
			}
			if diff := cmp.Diff(tt.files, files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if raw, err := json.Marshal(&got); err != nil || string(raw) != tt.json {
				t.Errorf("written as %s, %v", raw, err)
			}
			n := 0
			want := strings.NewReplacer(one, "<art_1>", two, "<art_2>").Replace(tt.json)
			replaced := got.Replaced(func(a api.Artifact) []byte { n++; return []byte("<" + a.ID + ">") })
			if string(replaced) != want || n != len(tt.files) {
				t.Errorf("replaced %d: %s, want %s", n, replaced, want)
			}
		})
	}
}

// TestOutputOfTask fills in the addresses of a task's files, wherever they stand.
func TestOutputOfTask(t *testing.T) {
	kept := task.Artifact{ID: "art_12345678", ContentType: "image/png", Bytes: 3, SHA256: "00", Width: 8, Height: 4}
	got := api.FromTask(task.Task{Output: &task.Output{
		JSON: json.RawMessage(`{"pages":[{"picture":` + task.Ref(kept.ID) + `}]}`), Files: []task.Artifact{kept},
	}}, func(a task.Artifact) string { return "https://a.example/" + a.ID + "?a=1&b=<2>" })
	want := `{"pages":[{"picture":{"id":"art_12345678","url":"https://a.example/art_12345678?a=1&b=<2>","content_type":"image/png",` +
		`"bytes":3,"sha256":"00","width":8,"height":4,"duration_seconds":null,"expires_at":"0001-01-01T00:00:00.000Z"}}]}`
	if diff := cmp.Diff(want, string(got.Output.JSON)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	read, err := got.Output.Read()
	if err != nil || len(read.Artifacts()) != 1 || !read.Open {
		t.Errorf("read %+v, %v", read, err)
	}
}
