package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/journal"
	"unitask/internal/mcp"
	"unitask/internal/secret"
	"unitask/internal/submit"
	"unitask/internal/task"
)

// session is a client of the protocol on a server of ours, in virtual time.
type session struct {
	t *testing.T
	*sdk.ClientSession
	transcript *transcript
	heard      *notifications
}

type notifications struct {
	mu       sync.Mutex
	progress []sdk.ProgressNotificationParams
	changes  int
}

// transcript is all that the server wrote.
type transcript struct {
	io.Writer
	mu  sync.Mutex
	all bytes.Buffer
}

func (w *transcript) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.all.Write(p)
	w.mu.Unlock()
	return w.Writer.Write(p)
}

func (w *transcript) lines() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Split(bytes.TrimSpace(w.all.Bytes()), []byte("\n"))
}

// newService returns a client of the fake, with a journal that the fake sees.
func newService(t *testing.T, f *fake, key string) *submit.Service {
	t.Helper()
	keyFunc := func(context.Context) (secret.Value, error) { return secret.New(key), nil }
	c, err := client.New(client.Config{
		BaseURL: "http://service", HTTPClient: &http.Client{Transport: f},
		Key: keyFunc,
	})
	if err != nil {
		t.Fatal(err)
	}
	if f.journal == nil {
		f.journal = journal.Open(t.TempDir())
	}
	return &submit.Service{Client: c, Key: keyFunc, Journal: f.journal}
}

// toService has the tools call a service as unitask mcp does, by way of its journal.
func toService(c mcp.Config, s *submit.Service) mcp.Config {
	c.Client = s.Client
	c.Begin = func(ctx context.Context, key string, body []byte, onTask func(api.Task)) (mcp.Submission, error) {
		return s.Begin(ctx, journal.Submission{Key: key, Body: body}, onTask)
	}
	return c
}

// converse runs do with a client connected to a server of the fake.
func converse(t *testing.T, f *fake, config mcp.Config, do func(*session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		config = toService(config, newService(t, f, key))
		w := &transcript{Writer: out}
		served := make(chan error, 1)
		go func() { served <- mcp.New(config).Run(t.Context(), io.NopCloser(in), w) }()
		s := &session{t: t, transcript: w, heard: &notifications{}}
		c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
				s.heard.mu.Lock()
				defer s.heard.mu.Unlock()
				s.heard.progress = append(s.heard.progress, *r.Params)
			},
			ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
				s.heard.mu.Lock()
				defer s.heard.mu.Unlock()
				s.heard.changes++
			},
		})
		var err error
		if s.ClientSession, err = c.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil); err != nil {
			t.Fatal(err)
		}
		do(s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Errorf("Run: %v", err)
		}
		for _, line := range w.lines() {
			if !json.Valid(line) || bytes.Contains(line, []byte(key)) {
				t.Errorf("written: %.200s", line)
			}
		}
	})
}

// call calls a tool; arguments are JSON.
func (s *session) call(name, arguments string) *sdk.CallToolResult {
	s.t.Helper()
	p := &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)}
	p.SetProgressToken("a token")
	r, err := s.CallTool(s.t.Context(), p)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// text is an answer as a model reads it: a line a part.
func text(r *sdk.CallToolResult) string {
	var lines []string
	if r.IsError {
		lines = append(lines, "ERROR")
	}
	for _, part := range r.Content {
		switch c := part.(type) {
		case *sdk.TextContent:
			lines = append(lines, c.Text)
		case *sdk.ImageContent:
			lines = append(lines, fmt.Sprintf("image %s %d", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			lines = append(lines, fmt.Sprintf("audio %s %d", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			lines = append(lines, fmt.Sprintf("link %s %s %d", c.MIMEType, c.URI, *c.Size))
		}
	}
	return strings.Join(lines, "\n")
}

func TestList(t *testing.T) {
	converse(t, newFake(t), mcp.Config{}, func(s *session) {
		list, err := s.ListTools(s.t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range list.Tools {
			got = append(got, one.Name)
		}
		want := []string{
			"audio_speech", "audio_transcribe", "image_background_remove", "image_edit", "image_generate", "image_upscale", "task_cancel", "task_get",
			"text_chat", "text_embed", "text_moderate", "text_rerank", "video_extend", "video_generate",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
	})
}

// TestAnswers checks the answer for each kind of result.
func TestAnswers(t *testing.T) {
	const link = "http://service/artifacts/art_1?a=1&sig=x"
	file := func(contentType string, size int, more string) string {
		return fmt.Sprintf(`{"artifact":"art_1","content_type":%q,"bytes":%d%s,"url":%q,"expires_at":"0001-01-01T00:00:00.000Z"}`,
			contentType, size, more, link)
	}
	save := func(context.Context, api.Task) ([]string, error) { return []string{"/tmp/a.png"}, nil }
	tests := []struct {
		name   string
		config mcp.Config
		output func(*fake) api.Output
		want   string
	}{
		{"text", mcp.Config{}, func(*fake) api.Output { return api.Output{Text: new("hello")} }, "hello"},
		{"a small picture", mcp.Config{}, func(f *fake) api.Output {
			return api.Output{Images: []api.Artifact{f.artifact("image/png", 1000)}}
		}, "image image/png 1000\n" + file("image/png", 1000, "")},
		{"a large picture", mcp.Config{}, func(f *fake) api.Output {
			return api.Output{Images: []api.Artifact{f.artifact("image/png", 1<<20)}}
		}, "link image/png " + link + " 1048576\n" + file("image/png", 1<<20, "")},
		{"a picture that is saved", mcp.Config{Save: save}, func(f *fake) api.Output {
			return api.Output{Images: []api.Artifact{f.artifact("image/png", 10)}}
		}, "image image/png 10\n" + file("image/png", 10, `,"path":"/tmp/a.png"`)},
		{"a sound", mcp.Config{}, func(f *fake) api.Output {
			return api.Output{Audio: new(f.artifact("audio/wav", 2000))}
		}, "audio audio/wav 2000\n" + file("audio/wav", 2000, "")},
		{"a video", mcp.Config{}, func(f *fake) api.Output {
			return api.Output{Videos: []api.Artifact{f.artifact("video/mp4", 20)}}
		}, "link video/mp4 " + link + " 20\n" + file("video/mp4", 20, "")},
		{"vectors", mcp.Config{}, func(*fake) api.Output {
			return api.Output{Embeddings: [][]float32{{0.5, 1}}}
		}, "[[0.5,1]]"},
		{"too many vectors", mcp.Config{}, func(*fake) api.Output {
			return api.Output{Embeddings: [][]float32{make([]float32, 1<<20)}}
		}, "1 vectors of 1048576 numbers: too large for an answer; unitask tasks get task_1 -o FILE saves them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			f.output = tt.output(f)
			converse(t, f, tt.config, func(s *session) {
				got := s.call("image_generate", `{"input":{"prompt":"a fox"}}`)
				if diff := cmp.Diff(tt.want, text(got)); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				want := sdk.Meta{"unitask/task_id": "task_1", "unitask/state": "succeeded", "unitask/cost_usd": "0.01"}
				delete(got.Meta, "io.modelcontextprotocol/serverInfo") // the library's
				if diff := cmp.Diff(want, got.Meta); diff != "" {
					t.Errorf("meta (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestHandOver is the call that lasts: it answers before its client gives up, and the task goes on.
func TestHandOver(t *testing.T) {
	f := newFake(t)
	f.takes, f.output = 80*time.Second, api.Output{Text: new("at last")}
	converse(t, f, mcp.Config{}, func(s *session) {
		began := time.Now()
		got := text(s.call("video_generate", `{"input":{"prompt":"waves"}}`))
		if took := time.Since(began); took != 50*time.Second {
			t.Errorf("handed over after %v, want 50s", took)
		}
		if !strings.HasPrefix(got, "task_1 is still running, ") || !strings.Contains(got, `call task_get with {"id":"task_1"}`) {
			t.Errorf("answer %q", got)
		}
		if got := text(s.call("task_get", `{"id":"task_1","wait_seconds":0}`)); !strings.HasPrefix(got, "task_1 is still running, 62 %") {
			t.Errorf("task_get without a wait: %q", got)
		}
		if got := text(s.call("task_get", `{"id":"task_1"}`)); got != "at last" {
			t.Errorf("task_get: %q", got)
		}
		if len(f.created) != 1 {
			t.Errorf("%d submissions, want 1", len(f.created))
		}
		s.checkProgress()
	})
}

// TestMetadataOfTasks: every task has the metadata that the program was started with, and no tool has it as an argument.
func TestMetadataOfTasks(t *testing.T) {
	f := newFake(t)
	f.output = api.Output{Text: new("hello")}
	want := task.Metadata{"source": "editor"}
	converse(t, f, mcp.Config{Metadata: want}, func(s *session) {
		if got := text(s.call("text_chat", `{"input":{"prompt":"hi"}}`)); got != "hello" {
			t.Errorf("answer %q", got)
		}
		if got := text(s.call("text_chat", `{"input":{"prompt":"hi"},"metadata":{"source":"a model"}}`)); !strings.Contains(got, "INVALID_REQUEST") {
			t.Errorf("with metadata of its own: %q", got)
		}
	})
	if len(f.created) != 1 || !maps.Equal(f.created[0].Metadata, want) {
		t.Errorf("created: %+v", f.created)
	}
}

// checkProgress holds the notifications to the protocol: each larger than the last, never over the total.
func (s *session) checkProgress() {
	s.t.Helper()
	s.heard.mu.Lock()
	defer s.heard.mu.Unlock()
	last, calls := 0.0, 0
	for _, p := range s.heard.progress {
		if p.Progress < last { // of the next call
			calls, last = calls+1, 0
		}
		if p.Progress <= last || p.Progress > p.Total || p.ProgressToken != "a token" {
			s.t.Errorf("progress %+v after %v", p, last)
		}
		last = p.Progress
	}
	if len(s.heard.progress) < 15 || calls > 1 {
		s.t.Errorf("%d notifications, %d calls that began anew; want one each poll of two calls", len(s.heard.progress), calls)
	}
}

func TestCancel(t *testing.T) {
	f := newFake(t)
	f.takes = time.Hour
	converse(t, f, mcp.Config{Limit: 3 * time.Second}, func(s *session) {
		s.call("image_generate", `{"input":{"prompt":"a fox"}}`)
		for _, step := range []struct{ tool, want string }{
			{"task_cancel", "task_1 is canceled"}, {"task_get", "ERROR\ntask_1 was canceled"},
		} {
			if got := text(s.call(step.tool, `{"id":"task_1"}`)); got != step.want {
				t.Errorf("%s: %q, want %q", step.tool, got, step.want)
			}
		}
	})
}

// TestDirectoryChanges is a capability that goes and comes: clients are told, and only of that.
func TestDirectoryChanges(t *testing.T) {
	f := newFake(t)
	converse(t, f, mcp.Config{}, func(s *session) {
		for _, change := range []struct{ entries, want int }{{len(f.entries), 0}, {1, 1}, {len(f.entries), 2}} {
			all := f.entries
			f.entries = all[:change.entries]
			list, err := s.ListTools(s.t.Context(), nil)
			if err != nil || len(list.Tools) != change.entries+2 {
				t.Fatalf("%d capabilities: %+v, %v", change.entries, list, err)
			}
			f.entries = all
			time.Sleep(time.Second)
			s.heard.mu.Lock()
			if s.heard.changes != change.want {
				t.Errorf("%d capabilities: %d changes heard, want %d", change.entries, s.heard.changes, change.want)
			}
			s.heard.mu.Unlock()
		}
	})
}

// TestRefusedKey ends at once: no client can do anything about it.
func TestRefusedKey(t *testing.T) {
	f := newFake(t)
	err := mcp.New(toService(mcp.Config{}, newService(t, f, "svc_test_wrong"))).Run(t.Context(), io.NopCloser(strings.NewReader("")), io.Discard)
	if fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("Run: %v, want UNAUTHENTICATED", err)
	}
}

// TestStopped is a program that is told to stop while a call waits: it ends at once, and leaves the record of a task
// whose answer is lost.
func TestStopped(t *testing.T) {
	f := newFake(t)
	f.takes = time.Hour
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		config := toService(mcp.Config{}, newService(t, f, key))
		go func() { served <- mcp.New(config).Run(ctx, there, there) }()
		c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		s, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: here, Writer: here}, nil)
		if err != nil {
			t.Fatal(err)
		}
		called := make(chan struct{})
		go func() {
			defer close(called)
			_, _ = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "image_generate", Arguments: json.RawMessage(`{"input":{"prompt":"a fox"}}`)})
		}()
		time.Sleep(10 * time.Second)
		began := time.Now()
		stop()
		if err := <-served; err != nil || time.Since(began) > time.Second {
			t.Errorf("Run: %v after %v, want nil at once", err, time.Since(began))
		}
		_ = s.Close()
		<-called
		if left := f.entriesNow(); len(left) != 1 {
			t.Errorf("the journal: %q, want an entry", left)
		}
	})
}
