package suppliertest

import (
	"errors"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
)

// maxAllocated bounds the memory of one answer, freed or not: far above a growing buffer of the largest limit, even
// under the race detector, and far below the endless answers.
const maxAllocated = 1 << 30

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// checkError checks that err is a supplier.Error with the verdict and leaks no text. addresses are the upstream's,
// which may be in logs but not in messages.
func checkError(t *testing.T, err error, want Verdict, addresses ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %+v", want)
	}
	e, ok := errors.AsType[*supplier.Error](err)
	if !ok {
		t.Fatalf("error %v is no *supplier.Error", err)
	}
	got := Verdict{Code: e.Fault.Code, Sent: e.Sent, Operator: e.Operator, RetryAfter: e.RetryAfter}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdict (-want +got):\n%s\nof %v", diff, err)
	}
	for _, word := range []string{leak, secretKey} {
		if strings.Contains(err.Error(), word) {
			t.Errorf("error %q holds %q", err, word)
		}
	}
	if e.Fault.Message == "" {
		t.Error("the fault has no message")
	}
	for _, address := range addresses {
		host := address
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			host = u.Host
		}
		if strings.Contains(e.Fault.Message, host) {
			t.Errorf("message %q names the upstream", e.Fault.Message)
		}
	}
}

// pollToError follows a job, should the submission have started one, to the error that is expected.
func pollToError(t *testing.T, h Harness, a supplier.Adapter, out supplier.Outcome, err error) error {
	t.Helper()
	if e, ok := errors.AsType[*supplier.Error](err); ok && e.Sent == supplier.Failed {
		t.Error("a submission can't have the verdict failed")
	}
	for range maxPolls {
		if err != nil || out.Job == nil {
			return err
		}
		p, ok := a.(supplier.Poller)
		if !ok {
			t.Fatal("a job of an adapter that can't poll")
		}
		pause(h, *out.Job)
		out, err = p.Poll(t.Context(), stored(t, *out.Job))
	}
	return err
}
