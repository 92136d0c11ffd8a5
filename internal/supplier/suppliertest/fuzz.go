package suppliertest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// FuzzText gives any bytes in answer to r, a text.chat: it returns a plausible result, of an answer that is JSON, or
// a plausible error.
func FuzzText(f *testing.F, k supplier.Kind, r supplier.Request, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	a, answer := Answering(f, k, "application/json")
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.Submit(t.Context(), r)
		if err != nil {
			CheckFailure(t, err, body)
			return
		}
		checkText(t, out)
		if !json.Valid([]byte(body)) {
			t.Error("a result from what is no JSON")
		}
	})
}

// FuzzTextStream gives any bytes as the stream that answers r.
func FuzzTextStream(f *testing.F, k supplier.Kind, r supplier.Request, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	a, answer := Answering(f, k, "text/event-stream")
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		checkStream(t, a, r, body)
	})
}

// CheckFailure checks every error that an answer of success can cause, for fuzz tests.
func CheckFailure(t *testing.T, err error, body string) {
	t.Helper()
	e, ok := errors.AsType[*supplier.Error](err)
	if !ok {
		t.Fatalf("error %v is no *supplier.Error", err)
	}
	if !e.Fault.Code.Valid() || e.Fault.Code == fault.Internal {
		t.Errorf("code %q", e.Fault.Code)
	}
	if e.Sent != supplier.Refused && e.Sent != supplier.Unknown {
		t.Errorf("verdict %q of an answered submission", e.Sent)
	}
	if !json.Valid([]byte(body)) && e.Sent != supplier.Unknown && !strings.Contains(body, "data:") {
		t.Errorf("verdict %q of an answer that is no JSON", e.Sent)
	}
	if len(body) > 40 && strings.Contains(err.Error(), body) {
		t.Error("the error holds the answer")
	}
}

// checkText checks the properties of every result of text.chat.
func checkText(t *testing.T, out supplier.Outcome) {
	t.Helper()
	res := out.Result
	reasons := []string{"stop", "length", supplier.FinishToolCalls}
	if res == nil || res.Text == nil || !slices.Contains(reasons, res.FinishReason) || res.State != nil && !json.Valid(res.State) {
		t.Fatalf("result %+v", res)
	}
	if res.Usage.InputTokens < 1 || res.Usage.OutputTokens < 0 || *res.Text != "" && res.Usage.OutputTokens == 0 {
		t.Errorf("usage %+v of %d bytes", res.Usage, len(*res.Text))
	}
	CheckUsage(t, res.Usage)
}

// CheckUsage checks that no count is below 0, and that the kinds of tokens are within their wholes.
func CheckUsage(t *testing.T, u supplier.Usage) {
	t.Helper()
	for _, n := range []int64{
		u.InputTokens, u.OutputTokens, u.Images, u.Milliseconds, u.Characters, u.Pages, u.Requests, u.Searches, u.CachedInputTokens,
		u.CacheWriteTokens, u.ImageInputTokens, u.AudioInputTokens, u.ReasoningTokens, u.ImageOutputTokens, u.AudioOutputTokens,
	} {
		if n < 0 {
			t.Errorf("a count below 0: %+v", u)
		}
	}
	if u.CachedInputTokens+u.CacheWriteTokens+u.ImageInputTokens+u.AudioInputTokens > u.InputTokens ||
		u.ReasoningTokens+u.ImageOutputTokens+u.AudioOutputTokens > u.OutputTokens {
		t.Errorf("kinds of tokens above their whole: %+v", u)
	}
}

// Answering returns an adapter of the kind for an upstream that gives to everything the body it was
// last told, for fuzz tests.
func Answering(f *testing.F, k supplier.Kind, contentType string) (a supplier.Adapter, answer func(body string)) {
	f.Helper()
	var body atomic.Pointer[string]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, *body.Load())
	}))
	f.Cleanup(srv.Close)
	a, err := k.New(supplier.Config{BaseURL: srv.URL + Base(k)})
	if err != nil {
		f.Fatal(err)
	}
	return a, func(s string) { body.Store(&s) }
}

// checkStream streams r from an upstream that answers with body, and checks the properties of every such stream: the
// pieces make up the text, and a failure after the first of them is no refusal, unless it is a review's.
func checkStream(t *testing.T, a supplier.Adapter, r supplier.Request, body string) {
	t.Helper()
	var told supplier.Told
	size := 0
	out, err := a.(supplier.Streamer).Stream(t.Context(), r, func(d supplier.Delta) {
		told.Add(d)
		size += d.Size()
	})
	if err != nil {
		CheckFailure(t, err, body)
		if e := supplier.AsError(err); size > 0 && e.Sent != supplier.Unknown && e.Fault.Code != fault.ContentPolicyViolation {
			t.Errorf("verdict %q after text was delivered", e.Sent)
		}
		return
	}
	checkText(t, out)
	checkTold(t, &told, out.Result)
}
