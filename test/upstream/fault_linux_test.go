package upstream_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/fault"
)

// leak is in every faulty answer; no caller or operator may see it.
const leak = "zarquon-leak"

var quiet = log.New(io.Discard, "", 0)

const slowDrip = "slow drip"

// phase is the purpose of a request to a supplier, and the progress of a streamed submission.
type phase string

const (
	submit   phase = "submit"
	poll     phase = "poll"
	transfer phase = "transfer"
	streamed phase = "submit, streamed"
	opening  phase = "before the first text"
	middle   phase = "in the middle of the text"
	ending   phase = "after the text"
)

// submits reports whether the phase is a submission or a part of one.
func (p phase) submits() bool { return p != poll && p != transfer }

// streams reports whether the text is asked for as a stream.
func (p phase) streams() bool { return p.submits() && p != submit }

// breaks reports whether the phase is a moment of a stream that has started.
func (p phase) breaks() bool { return p.streams() && p != streamed }

// failure is one row of the matrix: a fault, and its promised outcome in each phase.
type failure struct {
	name    string
	serve   http.HandlerFunc // in the place of the supplier's answer
	take    func(h *host)    // makes the supplier's address fail
	sends   int              // the status that answers with a private host's address
	cut     cut              // ends a stream at the phase's moment
	large   bool             // the answer is: a few such cells at once fill the memory
	endless bool             // only the task's deadline ends it
	fits    bool             // it is passed over in the answer of a dialect with room for it
	late    bool             // the answer is a good one, but comes after the caller has given up
	// The submission's failure for the caller if no other route is left.
	code fault.Code
	lost bool // it is unknown whether it was taken
	// The operator has to mend it: until then the supplier gets no new work.
	trips bool
	// The supplier asks all callers for a pause, and for one that is longer than the cell.
	advises, pauses bool
	// Why the failure can't occur in a phase.
	never map[phase]string
}

func failures() []failure {
	const unavailable, timeout, full = fault.ProviderUnavailable, fault.ProviderTimeout, fault.CapacityExhausted
	var all []failure
	refused := func(name string, code fault.Code, serve http.HandlerFunc) {
		all = append(all, failure{name: name, code: code, serve: serve})
	}
	lost := func(name string, code fault.Code, serve http.HandlerFunc) {
		all = append(all, failure{name: name, code: code, lost: true, serve: serve})
	}
	all = append(all,
		failure{name: "refused", code: unavailable, take: (*host).refuse},
		failure{name: "connect timeout", code: timeout, take: (*host).ignore},
		failure{name: "half-open: connected, without an answer", code: timeout, lost: true, take: (*host).deaf},
	)
	lost("reset before the body", unavailable, func(w http.ResponseWriter, _ *http.Request) { reset(w, "") })
	lost("reset after the body", unavailable, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reset(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"id\":\""+leak)
	})
	lost(slowDrip, timeout, drip)
	lost("header hang", timeout, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	for _, advice := range []string{"0", "5", "1000000000", "a date", "junk"} {
		refused("429, Retry-After: "+advice, full, func(w http.ResponseWriter, r *http.Request) {
			if advice == "a date" {
				w.Header().Set("Retry-After", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))
			} else {
				w.Header().Set("Retry-After", advice)
			}
			denounce(http.StatusTooManyRequests)(w, r)
		})
		all[len(all)-1].pauses = advice == "1000000000" || advice == "a date"
		all[len(all)-1].advises = all[len(all)-1].pauses || advice == "5"
	}
	refused("400, Retry-After: 60", fault.InvalidRequest, guard(http.StatusBadRequest))
	refused("401", unavailable, denounce(http.StatusUnauthorized))
	all[len(all)-1].trips = true
	refused("403 of a guard, Retry-After: 60", unavailable, guard(http.StatusForbidden))
	refused("500", unavailable, denounce(http.StatusInternalServerError))
	refused("502", unavailable, denounce(http.StatusBadGateway))
	refused("503", full, denounce(http.StatusServiceUnavailable))
	lost("200 with HTML", unavailable, answer("text/html", "<!doctype html><h1>"+leak+"</h1>"))
	lost("malformed JSON", unavailable, answer("application/json", `{"id":"`+leak))
	lost("an answer without a job id", unavailable, answer("application/json", `{}`))
	all[len(all)-1].never = map[phase]string{transfer: "a file names no job"}
	lost("wrong Content-Length", unavailable, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "4096")
		_, _ = io.WriteString(w, `{"id":"`+leak+`"}`)
		panic(http.ErrAbortHandler)
	})
	lost("gzip bomb", unavailable, bomb)
	all[len(all)-1].large = true
	lost("giant body", unavailable, giant)
	all[len(all)-1].large = true
	for _, status := range []int{301, 302, 307, 308} { // the address is made for each cell
		all = append(all, failure{
			name: fmt.Sprintf("%d to a private host", status), code: unavailable, sends: status,
			lost: status < 307, // which don't ask for the same request elsewhere: this one may have been taken
		})
	}
	lost("taken, and the connection ends without a reply", unavailable, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn := hijack(w)
		_ = conn.Close()
	})
	all = append(all,
		failure{
			name: "the job vanishes", serve: denounce(http.StatusNotFound),
			never: map[phase]string{submit: "there is no job yet", transfer: "the job has ended"},
		},
		failure{
			name: "done after the timeout", code: timeout, lost: true, late: true,
			never: map[phase]string{transfer: "what is transferred is done"},
		},
		failure{
			name: "the result's address has expired", serve: denounce(http.StatusForbidden),
			never: map[phase]string{submit: "no file is asked for", poll: "no file is asked for"},
		},
		failure{
			name: "the result is of no known type", serve: answer("image/png", "%PDF-1.7 "+leak),
			never: map[phase]string{submit: "no file is asked for", poll: "no file is asked for"},
		},
		failure{
			name: "the result is of another type", serve: answer("image/png", string(sound())),
			never: map[phase]string{submit: "no file is asked for", poll: "no file is asked for"},
		},
	)
	return all
}

// denounce answers with an error that repeats the request and the supplier's secrets.
func denounce(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // as much as comes
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", leak)
		w.WriteHeader(status)
		said := fmt.Sprintf("%s %s %s %s", leak, r.Host, r.Header, body)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"type":%q},"detail":%[2]q}`, said, leak)
	}
}

// guard answers as a proxy before the supplier does.
func guard(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(status)
		say(w, "<!doctype html><h1>%s</h1>", leak)
	}
}

// thenPause refuses as serve does, and from the second time on asks for a pause that outlasts the task, which
// then meets its deadline in the queue and not in the middle of a submission.
func thenPause(serve http.HandlerFunc) http.HandlerFunc {
	var before atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if before.Add(1) > 1 {
			w = pausing{w}
		}
		serve(w, r)
	}
}

// pausing is an answer that asks for a long pause in place of any other.
type pausing struct{ http.ResponseWriter }

func (p pausing) WriteHeader(status int) {
	p.Header().Set("Retry-After", "3600")
	p.ResponseWriter.WriteHeader(status)
}

func answer(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// drip sends a byte now and then, for as long as the connection is open.
func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	trickle(w, r, " ")
}

func trickle(w http.ResponseWriter, r *http.Request, drop string) {
	next := time.NewTicker(100 * time.Millisecond)
	defer next.Stop()
	for r.Context().Err() == nil {
		_, err := io.WriteString(w, drop)
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-next.C:
		case <-r.Context().Done():
		}
	}
}

// spaces are as many as any limit here allows, and more.
const spaces = 80

func giant(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	pour(w)
}

func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(packed())
}

var packed = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	pour(z)
	_ = z.Close()
	return b.Bytes()
})

func pour(w io.Writer) {
	mebibyte := strings.Repeat(" ", 1<<20)
	for range spaces {
		if _, err := io.WriteString(w, mebibyte); err != nil {
			return
		}
	}
}

// reset ends the connection as a crashed peer does, after the given bytes.
func reset(w http.ResponseWriter, before string) {
	conn := hijack(w)
	_, _ = io.WriteString(conn, before)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // the suppliers here speak HTTP/1.1
	}
	return conn
}

// redirect answers with the address of a private host, which must not be followed, least of all with the key.
func redirect(t *testing.T, status int) http.HandlerFunc {
	t.Helper()
	elsewhere := newHost(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		keyed := strings.Contains(fmt.Sprint(r.Header), supplierKey)
		t.Errorf("%s %s followed the redirect; with the supplier's key: %t", r.Method, r.URL, keyed)
	}))
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Redirect(w, r, "http://"+elsewhere.address+"/"+leak, status)
	}
}
