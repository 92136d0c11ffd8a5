package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/client"
)

func answered(write func(http.ResponseWriter)) *http.Response {
	w := httptest.NewRecorder()
	write(w)
	return w.Result()
}

// TestRun makes a text, a picture that is fetched and sent on, vectors of both encodings, and a task of a capability
// that only this service has.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.client(t, nil)
	ctx := t.Context()

	chat, err := c.TextChat(ctx, client.TextChatInput{
		Messages:   []client.TextChatMessage{{Role: "user", Content: &client.Several[client.Part]{Text: "say the fox is red"}}},
		Parameters: client.TextChatParameters{MaxOutputTokens: 50, Temperature: new(0.0)},
		Metadata:   map[string]string{"team": "search"},
	})
	if err != nil || chat.State != client.Succeeded || !strings.Contains(chat.Output.Text, "fox") || chat.Usage.OutputTokens == 0 || chat.Metadata["team"] != "search" {
		t.Errorf("%+v, %v", chat, err)
	}

	made, err := c.ImageGenerate(ctx, client.ImageGenerateInput{Prompt: "a red fox", Parameters: client.ImageGenerateParameters{Size: "64x64"}})
	if err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := c.Download(ctx, made.Output.Images[0], &picture); err != nil {
		t.Fatal(err)
	}
	if seen, err := png.DecodeConfig(&picture); err != nil || seen.Width != 64 {
		t.Errorf("the picture: %+v, %v", seen, err)
	}
	larger, err := c.ImageUpscale(ctx, client.ImageUpscaleInput{
		Image: made.Output.Images[0].Media(), Authorization: &client.Authorization{Person: "none"},
	})
	if err != nil || *larger.Output.Images[0].Width != 128 {
		t.Errorf("%+v, %v", larger, err)
	}

	var vectors [2]client.Vector
	for i, encoding := range []string{"float", "base64"} {
		got, err := c.TextEmbed(ctx, client.TextEmbedInput{Texts: []string{"a fox"}, Parameters: client.TextEmbedParameters{Encoding: encoding}})
		if err != nil {
			t.Fatal(err)
		}
		vectors[i] = got.Output.Embeddings[0]
	}
	if len(vectors[0]) == 0 || !slices.Equal(vectors[0], vectors[1]) {
		t.Errorf("vectors %v and %v", vectors[0], vectors[1])
	}

	type shout struct{ Text string }
	loud, err := client.Run(ctx, c, client.Request[shout]{Capability: "text.shout", Input: map[string]string{"text": "hello"}})
	if err != nil || loud.Output.Text == "" {
		t.Errorf("%+v, %v", loud, err)
	}
	raw, err := client.Run(ctx, c, client.Body[json.RawMessage](`{"capability":"text.shout","input":{"text":"hello"}}`))
	if err != nil || !json.Valid(*raw.Output) {
		t.Errorf("%+v, %v", raw, err)
	}
	found := 0
	for now, err := range c.List(ctx, client.ListOptions{Metadata: map[string]string{"team": "search"}, State: client.Succeeded}) {
		if err != nil || now.ID != chat.ID {
			t.Errorf("listed %+v, %v", now, err)
		}
		found++
	}
	if all, err := c.Capabilities(ctx); err != nil || len(all) < 10 || found != 1 {
		t.Errorf("%d capabilities, %v; %d tasks listed", len(all), err, found)
	}
}

// TestErrors: refusals and failures are errors with all that the service says.
func TestErrors(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.client(t, nil)
	_, err := c.ImageGenerate(t.Context(), client.ImageGenerateInput{Prompt: "x", Parameters: client.ImageGenerateParameters{Size: "1x1"}})
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Code != client.CodeInvalidRequest || e.Status != http.StatusBadRequest || e.RequestID == "" || len(e.Details) != 1 || e.Details[0].Field != "parameters.size" {
		t.Errorf("a wrong request: %#v", err)
	}
	failed, err := c.ImageGenerate(t.Context(), client.ImageGenerateInput{Prompt: "@failjob:CONTENT_POLICY_VIOLATION"})
	e, ok = errors.AsType[*client.Error](err)
	if !ok || e.Code != client.CodeContentPolicyViolation || e.TaskID != failed.ID || e.Retryable || failed.State != client.Failed || failed.Output != nil {
		t.Errorf("a failed task: %+v, %#v", failed, err)
	}
	if _, err = client.Get[client.TextChatOutput](t.Context(), c, "task_unknown"); !strings.HasPrefix(err.Error(), "NOT_FOUND: ") {
		t.Errorf("an unknown task: %v", err)
	}
	stranger, err := client.New(s.url, "svc_test_nobody")
	if err != nil {
		t.Fatal(err)
	}
	_, err = stranger.TextChat(t.Context(), client.TextChatInput{Prompt: "hi"})
	if e, ok = errors.AsType[*client.Error](err); !ok || e.Code != client.CodeUnauthenticated || strings.Contains(err.Error(), "nobody") {
		t.Errorf("an unknown key: %v", err)
	}
}

// TestFaults: connections that break at each place, and refusals that pass, lead to one task under one key.
func TestFaults(t *testing.T) {
	t.Parallel()
	full := `{"error":{"code":"CAPACITY_EXHAUSTED","message":"full","retryable":true,"retry_after_seconds":1},"request_id":"req_1"}`
	busy := `{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"slow down","retryable":true,"retry_after_seconds":1},"request_id":"req_1"}`
	for name, tt := range map[string]struct {
		faults  []trouble
		creates int
		least   time.Duration // by the service's advice
	}{
		"lost answers":          {[]trouble{lost, lost}, 3, 0},
		"a stream cut at once":  {[]trouble{cut(0)}, 2, 0},
		"a stream cut later":    {[]trouble{cut(700)}, 1, 0},
		"503, then 429":         {[]trouble{refused(503, full), refused(429, busy)}, 3, 2 * time.Second},
		"a proxy's 502":         {[]trouble{refused(502, "<html>"), refused(502, "<html>")}, 3, time.Second},
		"lost, then an answer ": {[]trouble{lost}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			f := &first{method: http.MethodPost, faults: tt.faults}
			began := time.Now()
			got, err := s.client(t, f.do).TextChat(t.Context(), client.TextChatInput{Prompt: "say hello to all of the foxes"})
			if err != nil || !strings.Contains(got.Output.Text, "foxes") {
				t.Fatalf("%+v, %v", got, err)
			}
			if took := time.Since(began); took < tt.least {
				t.Errorf("took %v, less than the service's advice of %v", took, tt.least)
			}
			if n := s.tasks(t); n != 1 || len(f.keys) != tt.creates || len(slices.Compact(f.keys)) != 1 {
				t.Errorf("%d tasks by %d creations under keys %q; want 1 by %d under one", n, len(f.keys), f.keys, tt.creates)
			}
		})
	}
}

// TestStream yields revisions and the text in pieces; after a loop that is left the task goes on.
func TestStream(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.client(t, nil)
	var text strings.Builder
	var last *client.Task[client.TextChatOutput]
	for e, err := range client.Stream(t.Context(), c, client.TextChatInput{Prompt: "say one two three four"}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Delta != nil {
			text.WriteString(e.Delta.Text)
		}
		if e.Task != nil {
			last = e.Task
		}
	}
	if last == nil || last.State != client.Succeeded || last.Output.Text != text.String() {
		t.Errorf("streamed %q of %+v", text.String(), last)
	}
	var id string
	for e, err := range client.Stream(t.Context(), c, client.ImageGenerateInput{Prompt: "a fox"}) {
		if err != nil {
			t.Fatal(err)
		}
		id = e.Task.ID
		break
	}
	done, err := client.Wait(t.Context(), c, &client.Task[client.ImageGenerateOutput]{ID: id})
	if err != nil || len(done.Output.Images) != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestCanceled: a context ends the wait, not the task, which its key finds again; Cancel ends the task.
func TestCanceled(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.client(t, nil)
	in, key := client.ImageGenerateInput{Prompt: "a fox @stuck:running"}, client.NewIdempotencyKey()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen string
	for e, err := range client.Stream(ctx, c, in, client.WithIdempotencyKey(key)) {
		if e.Task != nil {
			seen = e.Task.ID
			cancel()
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}
	again, err := client.Submit(t.Context(), c, in, client.WithIdempotencyKey(key), client.WithWait(0))
	if err != nil || again.ID != seen || !again.Replayed || again.State.Terminal() || again.RetryAfter == 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	if _, err := c.Cancel(t.Context(), again.ID); err != nil {
		t.Fatal(err)
	}
	ended, err := client.Wait(t.Context(), c, &client.Task[client.ImageGenerateOutput]{ID: again.ID})
	if !errors.Is(err, client.ErrCanceled) || ended.State != client.Canceled {
		t.Errorf("%+v, %v", ended, err)
	}
	_, err = client.Submit(t.Context(), c, client.ImageGenerateInput{Prompt: "another"}, client.WithIdempotencyKey(key))
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.CodeIdempotencyConflict {
		t.Errorf("another request under the key: %v", err)
	}
}

// TestReadsAgain: reads of the directory and of a task survive lost answers.
func TestReadsAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var told []client.Retry
	f := &first{method: http.MethodGet, faults: []trouble{lost, cut(10)}}
	c := s.client(t, f.do, client.WithOnRetry(func(r client.Retry) { told = append(told, r) }))
	all, err := c.Capabilities(t.Context())
	if err != nil || len(all) < 10 || len(told) != 2 || told[1].Try != 3 {
		t.Errorf("%d capabilities, %v, after %+v", len(all), err, told)
	}
}

// TestNotRetried: an error that stays is the answer to the first request; a server of another kind is asked once more,
// without a stream.
func TestNotRetried(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		want   int
	}{
		"another server": {http.StatusNotFound, "<html>", 2}, // once more without a stream
		"an error":       {http.StatusBadRequest, `{"error":{"code":"INVALID_REQUEST","message":"no"}}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			c := overHandler(t, func(w http.ResponseWriter, _ *http.Request) {
				n++
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			})
			_, err := c.TextChat(t.Context(), client.TextChatInput{Prompt: "hi"})
			if e, ok := errors.AsType[*client.Error](err); !ok || e.Foreign != (name == "another server") || n != tt.want {
				t.Errorf("%v after %d requests, want %d", err, n, tt.want)
			}
		})
	}
}
