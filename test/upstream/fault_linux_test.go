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
	"testing"
	"time"

	"unitask/internal/fault"
)

// leak is in every faulty answer; nobody may see it.
const leak = "zarquon-leak"

var quiet = log.New(io.Discard, "", 0)

const slowDrip = "slow drip"

// phase is what a request to a supplier is for.
type phase string

const (
	submit   phase = "submit"
	poll     phase = "poll"
	transfer phase = "transfer"
)

// failure is one row of the matrix: what goes wrong, and what is to come of it in each phase.
type failure struct {
	name  string
	serve http.HandlerFunc // in the place of the supplier's answer; nil: address does it
	take  func(h *host)    // makes the supplier's address fail
	large bool             // the answer is: a few such cells at once fill the memory
	late  bool             // the answer is a good one, and comes when nobody waits for it any more
	// What the submission's failure is, for the caller where no other route is left.
	code fault.Code
	lost bool // nobody can tell whether it was taken
	// The supplier asks for a pause that is longer than the cell.
	pauses bool
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
		failure{name: "half-open: connected, and nobody there", code: timeout, lost: true, take: (*host).deaf},
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
	}
	refused("500", unavailable, denounce(http.StatusInternalServerError))
	refused("502", unavailable, denounce(http.StatusBadGateway))
	refused("503", full, denounce(http.StatusServiceUnavailable))
	lost("200 with HTML", unavailable, answer("text/html", "<!doctype html><h1>"+leak+"</h1>"))
	lost("malformed JSON", unavailable, answer("application/json", `{"id":"`+leak))
	lost("no job id, and nothing else", unavailable, answer("application/json", `{}`))
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
	refused("307 to a private host", unavailable, nil) // the address is made for each cell
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

// denounce answers with an error that repeats what the supplier knows.
func denounce(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", leak)
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"%s %s %s","type":"%[1]s"},"detail":"%[1]s"}`, leak, r.Host, r.Header)
	}
}

func answer(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// drip sends a byte now and then, for as long as somebody listens.
func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for range 10_000 {
		_, err := io.WriteString(w, " ")
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-r.Context().Done():
			return
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

// redirect answers with the address of a private host, which nobody may follow.
func redirect(t *testing.T) http.HandlerFunc {
	t.Helper()
	elsewhere := newHost(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s followed the redirect", r.Method, r.URL)
	}))
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Redirect(w, r, "http://"+elsewhere.address+"/"+leak, http.StatusTemporaryRedirect)
	}
}
