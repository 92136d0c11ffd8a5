package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLibrariesLeaveUnknownWorkAlone: a server behind the doors that reads each request and hangs up may have done its
// work. OpenAI's and Anthropic's own libraries, which retry by themselves, get it submitted once.
func TestLibrariesLeaveUnknownWorkAlone(t *testing.T) {
	t.Parallel()
	var submitted atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		submitted.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(upstream.Close)
	h := newHost(t)
	h.Config = "doors: [openai, anthropic]\ndoor_models: {text.chat: [gpt-5, claude-5]}\n" + heldBehind(upstream.URL)
	h.start()
	h.useLiveKey()
	type call struct{ Status, Requests int }
	var got map[string]call
	h.byLibrary(&got, "openai", "", "lost.mjs", h.Base)
	want := map[string]call{"openai false": {502, 1}, "openai true": {502, 1}, "anthropic false": {502, 1}, "anthropic true": {502, 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if n := submitted.Load(); n != 4 {
		t.Errorf("the server behind saw %d submissions of 4 calls", n)
	}
}
