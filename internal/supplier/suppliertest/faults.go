package suppliertest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

const unavailable = fault.ProviderUnavailable

// scenario is one way in which an upstream fails every kind alike.
type scenario struct {
	name   string
	answer http.HandlerFunc
	want   Verdict
	unread bool // the upstream reads no body
	text   bool // for answers of a known form only: an opaque one can't tell
}

var (
	refused  = Verdict{Code: unavailable, Sent: supplier.Refused}
	mended   = Verdict{Code: unavailable, Sent: supplier.Refused, Operator: true}
	full     = Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused, RetryAfter: 7 * time.Second}
	timedOut = Verdict{Code: fault.ProviderTimeout, Sent: supplier.Unknown}
	lost     = Verdict{Code: unavailable, Sent: supplier.Unknown}
	notSent  = Verdict{Code: unavailable, Sent: supplier.NotSent}
)

// scenarios returns the answers that must fail in one way for every kind.
func scenarios() []scenario {
	return []scenario{
		{name: "401", answer: denounce(http.StatusUnauthorized), want: mended},
		{name: "429", answer: denounce(http.StatusTooManyRequests, "Retry-After", "7"), want: full},
		{
			name: "429 junk advice", answer: denounce(http.StatusTooManyRequests, "Retry-After", "soon"),
			want: Verdict{Code: full.Code, Sent: full.Sent},
		},
		{
			name: "429 endless advice", answer: denounce(http.StatusTooManyRequests, "Retry-After", "1000000000"),
			want: Verdict{Code: full.Code, Sent: full.Sent, RetryAfter: time.Hour},
		},
		{name: "500", answer: denounce(http.StatusInternalServerError), want: refused},
		{name: "500 html", answer: canned(500, "text/html", "<h1>"+leak+"</h1>"), want: refused},
		{name: "500 empty", answer: canned(500, "", ""), want: refused},
		{name: "504", answer: denounce(http.StatusGatewayTimeout), want: timedOut},
		{name: "200 html", answer: canned(200, "text/html", "<h1>"+leak+"</h1>"), want: lost},
		{name: "200 empty", answer: canned(200, "application/json", ""), want: lost},
		{name: "200 malformed", answer: canned(200, "application/json", `{"`+leak+`":[`), want: lost, text: true},
		{name: "200 null", answer: canned(200, "application/json", `null`), want: lost, text: true},
		{name: "200 without a result", answer: canned(200, "application/json", `{"id":"`+leak+`"}`), want: lost, text: true},
		{name: "204", answer: canned(204, "", ""), want: lost},
		{name: "no http", answer: raw(leak + "\r\n\r\n"), want: lost},
		{name: "half a header", answer: raw("HTTP/1.1 200 OK\r\nX: " + leak), want: lost},
		{name: "cut short", answer: raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"), want: lost},
		{name: "cut chunk", answer: raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"), want: lost},
		{name: "reset after the body", answer: func(w http.ResponseWriter, _ *http.Request) { kill(w) }, want: lost},
		{name: "reset before the body", answer: func(w http.ResponseWriter, _ *http.Request) { kill(w) }, want: lost, unread: true},
		{name: "no reply", answer: raw(""), want: lost},
		{name: "endless body", answer: endless, want: lost},
		{name: "gzip bomb", answer: bomb, want: lost},
	}
}

// testHTTP runs the failures of every kind, through Submit and, if the case is streamed, Stream.
func testHTTP(t *testing.T, h Harness, c Case) {
	ways := []submitMode{{"submit", submitOnce}}
	if c.Stream != nil {
		ways = append(ways, submitMode{"stream", streamOnce})
	}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			for _, s := range scenarios() {
				if s.text && c.Opaque {
					continue
				}
				t.Run(s.name, func(t *testing.T) { testScenario(t, h, c, s, w) })
			}
			for _, status := range []int{400, 403, 404, 405, 409, 413, 422, 451} {
				t.Run(fmt.Sprintf("%d of a guard", status), func(t *testing.T) { testGuard(t, h, c, w, status) })
			}
			t.Run("hang", func(t *testing.T) { testHang(t, h, c, w) })
			t.Run("redirect", func(t *testing.T) { testRedirect(t, h, c, w) })
			t.Run("nobody listens", func(t *testing.T) { testNobody(t, h, c, w) })
			t.Run("no key", func(t *testing.T) { testNoKey(t, h, c, w) })
			t.Run("ended before", func(t *testing.T) { testEnded(t, h, c, w) })
			t.Run("reused connection", func(t *testing.T) { testReused(t, h, c, w) })
		})
	}
}

func testScenario(t *testing.T, h Harness, c Case, s scenario, w submitMode) {
	srv := serve(t, h, s.answer, s.unread)
	before := allocated()
	_, err := w.send(t.Context(), newAdapter(t, h, srv.URL, fixedKey), filled(c.Request))
	checkError(t, err, s.want, srv.URL)
	if n := len(srv.received()); n != 1 {
		t.Errorf("requests: got %d, want 1", n)
	}
	if grown := allocated() - before; grown > maxAllocated {
		t.Errorf("allocated %d bytes", grown)
	}
}

// testGuard has something in between refuse one request, with a page and advice to wait. It is that request's affair,
// and for 403 and 404 a failure that may be: not one that closes the route for others.
func testGuard(t *testing.T, h Harness, c Case, w submitMode, status int) {
	page := Respond(status, "text/html", "<h1>"+leak+"</h1>")
	srv := serve(t, h, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Retry-After", "60")
		page.ServeHTTP(rw, r)
	}), false)
	_, err := w.send(t.Context(), newAdapter(t, h, srv.URL, fixedKey), filled(c.Request))
	e := supplier.AsError(err)
	if e == nil || e.Sent != supplier.Refused || e.Operator || e.Status != status {
		t.Fatalf("got %+v, want a refusal that isn't the operator's to mend", e)
	}
	undocumented := status == http.StatusForbidden || status == http.StatusNotFound
	switch code := e.Fault.Code; {
	case code == unavailable && e.Request != undocumented:
	case code == fault.InvalidRequest && !undocumented:
	default:
		t.Errorf("code %s, about the request alone: %t", code, e.Request)
	}
}

func testFault(t *testing.T, h Harness, f Fault) {
	request := h.Cases[0].Request
	if f.Request != nil {
		request = *f.Request
	}
	w := submitMode{"submit", submitOnce}
	if f.Stream {
		w = submitMode{"stream", streamOnce}
	}
	if h.Upstream == nil {
		synctest.Test(t, func(t *testing.T) {
			a := newAdapter(t, h, "", fixedKey)
			out, err := w.send(t.Context(), a, filled(request))
			checkError(t, pollToError(t, h, a, out, err), f.Want)
		})
		return
	}
	srv := serve(t, h, f.Answer, false)
	a := newAdapter(t, h, srv.URL, fixedKey)
	out, err := w.send(t.Context(), a, filled(request))
	if n := len(srv.received()); n != 1 {
		t.Errorf("requests: got %d, want 1", n)
	}
	checkError(t, pollToError(t, h, a, out, err), f.Want, srv.URL)
}

// denounce answers with an error that repeats the key and the host in every member.
func denounce(status int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		word := fmt.Sprintf("%s %s %s", leak, secretKey, r.Host)
		body := fmt.Sprintf(`{"error":{"message":%[1]q,"code":%[1]q,"type":%[1]q,"param":%[1]q}}`, word)
		JSON(status, body, headers...).ServeHTTP(w, r)
	}
}

func canned(status int, contentType, body string) http.HandlerFunc {
	return Respond(status, contentType, body).ServeHTTP
}

func raw(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { write(w, answer) }
}

// endless sends a JSON string of up to a gibibyte, or until the adapter has had enough.
func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	chunk := []byte(strings.Repeat("x", 1<<20))
	_, err := w.Write([]byte(`{"x":"`))
	for range 1 << 10 {
		if err != nil {
			return
		}
		_, err = w.Write(chunk)
	}
}

// bomb sends two gibibytes in two megabytes.
func bomb(w http.ResponseWriter, _ *http.Request) {
	member := compressedBlanks()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	for range 128 {
		if _, err := w.Write(member); err != nil {
			return
		}
	}
}

// compressedBlanks returns 16 mebibytes of blanks as one member of a gzip file. The race detector makes compressing slow.
var compressedBlanks = sync.OnceValue(func() []byte {
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	for range 16 {
		_, _ = z.Write([]byte(strings.Repeat(" ", 1<<20)))
	}
	_ = z.Close()
	return member.Bytes()
})
