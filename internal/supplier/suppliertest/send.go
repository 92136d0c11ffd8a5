package suppliertest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// Send submits r once, through Stream if stream is true: the pieces must then make up the result.
func Send(t *testing.T, a supplier.Adapter, r supplier.Request, stream bool) (*supplier.Result, error) {
	t.Helper()
	if !stream {
		out, err := a.Submit(t.Context(), r)
		return out.Result, err
	}
	var told supplier.Told
	out, err := a.(supplier.Streamer).Stream(t.Context(), r, told.Add)
	if err == nil {
		checkTold(t, &told, out.Result)
	}
	return out.Result, err
}

// VerdictOf returns the part of an error that the suite compares; zero for nil.
func VerdictOf(err error) Verdict {
	if err == nil {
		return Verdict{}
	}
	e := supplier.AsError(err)
	return Verdict{Code: e.Fault.Code, Sent: e.Sent, Operator: e.Operator, RetryAfter: e.RetryAfter}
}

// Tolerated is one of the forms in which servers answer well.
type Tolerated struct {
	Name   string
	Answer http.Handler
	Stream bool
	Want   *supplier.Result
}

// RunTolerated submits r to each of the answers.
func RunTolerated(t *testing.T, k supplier.Kind, r supplier.Request, rows []Tolerated) {
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			got, err := Send(t, Answered(t, k, row.Answer), r, row.Stream)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.Want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Answered returns an adapter of the kind whose upstream gives one answer to everything.
func Answered(t *testing.T, k supplier.Kind, answer http.Handler) supplier.Adapter {
	t.Helper()
	srv := httptest.NewServer(Held(t, answer))
	t.Cleanup(srv.Close)
	a, err := k.New(supplier.Config{BaseURL: srv.URL + Base(k)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// RunUnfit shows that an adapter doesn't send requests with unknown members, streamed or not.
func RunUnfit(t *testing.T, k supplier.Kind, rows map[string]supplier.Request) {
	a := Answered(t, k, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("sent %s", r.URL) }))
	for name, r := range rows {
		for _, stream := range []bool{false, true} {
			_, err := Send(t, a, r, stream)
			want := Verdict{Code: fault.Internal, Sent: supplier.NotSent}
			if diff := cmp.Diff(want, VerdictOf(err)); diff != "" {
				t.Errorf("%s: verdict (-want +got):\n%s", name, diff)
			}
		}
	}
}

// Misconfigured is one configuration that a kind refuses, with the words it does so in.
type Misconfigured struct {
	Config supplier.Config
	Want   string
}

// RunMisconfigured checks the errors of the kind's constructor.
func RunMisconfigured(t *testing.T, k supplier.Kind, rows []Misconfigured) {
	t.Helper()
	for _, row := range rows {
		if _, err := k.New(row.Config); err == nil || err.Error() != row.Want {
			t.Errorf("got %v, want %q", err, row.Want)
		}
	}
}
