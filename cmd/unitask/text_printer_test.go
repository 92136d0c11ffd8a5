package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/sse"
	"unitask/internal/task"
)

// TestPipeGetsPieces: each piece of a text is in the pipe before the next one is made.
func TestPipeGetsPieces(t *testing.T) {
	read := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			entry := api.Capability{Name: "text.chat", Modality: "text", Mode: catalog.Sync, InputSchema: []byte(`{"properties":{"prompt":{"type":"string"}}}`), ParametersSchema: []byte(`{}`)}
			answer(w, http.StatusOK, api.CapabilityList{Data: []api.Capability{entry}})
			return
		}
		tell := func(name string, v any) {
			raw, _ := json.Marshal(v)
			_, _ = w.Write(sse.Append(nil, name, raw))
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("Content-Type", sse.ContentType)
		now := api.Task{ID: "task_1", Capability: "text.chat", State: task.Running}
		tell(api.EventTask, now)
		for _, piece := range []string{"one ", "two"} {
			tell(api.EventDelta, api.Delta{Text: piece})
			select {
			case <-read:
			case <-r.Context().Done():
				return
			}
		}
		now.State, now.Output = task.Succeeded, &api.Output{Text: new("one two")}
		tell(api.EventTask, now)
	}))
	defer service.Close()
	t.Setenv("UNITASK_BASE_URL", service.URL)
	t.Setenv("UNITASK_API_KEY", fakeKey)
	t.Setenv("UNITASK_CONFIG_DIR", t.TempDir())
	t.Setenv("UNITASK_STATE_DIR", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a text that is kept back would never come
	defer cancel()
	from, to := io.Pipe()
	ended := make(chan error, 1)
	var said strings.Builder
	go func() {
		err := runRun(ctx, &terminal{in: strings.NewReader(""), out: to, err: &said}, &runOptions{capability: "text.chat", words: []string{"count"}})
		_ = to.Close()
		ended <- err
	}()
	for _, want := range []string{"one ", "two"} {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(from, got); err != nil || string(got) != want {
			t.Fatalf("read %q, %v, want %q", got, err, want)
		}
		read <- struct{}{}
	}
	rest, err := io.ReadAll(from)
	if err != nil || string(rest) != "\n" {
		t.Errorf("then %q, %v", rest, err)
	}
	if err := <-ended; err != nil || said.String() != "" {
		t.Errorf("%v, stderr %q", err, said.String())
	}
}

// TestSpokenAgain: a text that begins again comes anew on a new line of a terminal. A pipe doesn't get it twice, and gets
// an error if it comes in other words.
func TestSpokenAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second []string
		whole         string
		screen, pipe  string
		reworded      bool
	}{
		"the same":         {[]string{"one ", "two "}, []string{"one", " two three"}, "one two three", "one two \none two three\n", "one two three\n", false},
		"shorter":          {[]string{"one ", "two "}, []string{"one "}, "one two three", "one two \none two three\n", "one two three\n", false},
		"after a line":     {[]string{"one\n"}, []string{"one\n"}, "one\ntwo", "one\none\ntwo\n", "one\ntwo\n", false},
		"in other words":   {[]string{"one ", "two "}, []string{"one ", "four"}, "one four", "one two \none four\n", "one two \n", true},
		"cut short":        {[]string{"one ", "two "}, nil, "one", "one two \none\n", "one two \n", true},
		"nothing was said": {nil, []string{"four"}, "four", "four\n", "four\n", false},
	} {
		for _, screen := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				var out strings.Builder
				s := &textPrinter{t: &terminal{out: &out, outTTY: screen, width: func() int { return 80 }}, begin: func(*textPrinter) {}}
				for _, piece := range tt.first {
					s.say(piece)
				}
				s.again()
				for _, piece := range tt.second {
					s.say(piece)
				}
				err := s.rest(tt.whole)
				want := tt.pipe
				if screen {
					want = tt.screen
				}
				if out.String() != want || (err != nil) != (tt.reworded && !screen) {
					t.Errorf("%q, %v, want %q", out.String(), err, want)
				}
			})
		}
	}
}
