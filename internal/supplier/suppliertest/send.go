package suppliertest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// Send submits r once, through Stream where stream says so: the pieces must then make up the text.
func Send(t *testing.T, a supplier.Adapter, r supplier.Request, stream bool) (*supplier.Result, error) {
	t.Helper()
	if !stream {
		out, err := a.Submit(t.Context(), r)
		return out.Result, err
	}
	var text strings.Builder
	out, err := a.(supplier.Streamer).Stream(t.Context(), r, func(d supplier.Delta) { text.WriteString(d.Text) })
	if err == nil && text.String() != *out.Result.Text {
		t.Errorf("deltas: got %q, want %q", text.String(), *out.Result.Text)
	}
	return out.Result, err
}

// VerdictOf returns what the suite compares of an error; zero for nil.
func VerdictOf(err error) Verdict {
	if err == nil {
		return Verdict{}
	}
	e := supplier.AsError(err)
	return Verdict{Code: e.Fault.Code, Sent: e.Sent, Operator: e.Operator, RetryAfter: e.RetryAfter}
}

// CheckFailure checks what holds of every error that an answer of success can cause, for fuzz tests.
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

// CheckText checks what holds of every result of text.chat.
func CheckText(t *testing.T, out supplier.Outcome) {
	t.Helper()
	res := out.Result
	if res == nil || res.Text == nil || res.FinishReason != "stop" && res.FinishReason != "length" {
		t.Fatalf("result %+v", res)
	}
	if res.Usage.InputTokens < 1 || res.Usage.OutputTokens < 0 || *res.Text != "" && res.Usage.OutputTokens == 0 {
		t.Errorf("usage %+v of %d bytes", res.Usage, len(*res.Text))
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
	a, err := k.New(supplier.Config{BaseURL: srv.URL})
	if err != nil {
		f.Fatal(err)
	}
	return a, func(s string) { body.Store(&s) }
}
