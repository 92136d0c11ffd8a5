package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/task"
)

// exchange is one request and its response on their way through the server. It is the
// http.ResponseWriter that every handler writes to; one goroutine uses it.
type exchange struct {
	http.ResponseWriter
	patient time.Duration // for the client to take one piece
	until   time.Time     // the write deadline that was set last

	r      *http.Request
	unread bool         // the request's body is, or a part of it
	id     string       // of the request
	client string       // the client's address; "" over a Unix socket
	caller *gate.Caller // behind the key; nil until it is known
	route  string       // the pattern, for the log
	taskID string       // for the log
	status int          // 0 until the header is written
	code   fault.Code

	showing *gateway.Showing // of the failures that the answer, or the next event, carries
	flushed bool             // the handler flushes the answer itself, and so tells its length

	values [5]string // of header fields, so that each needs no memory of its own
	fields int       // how many of them are set
}

// common is the shared part of the API and the admin socket: one request's way in and out.
type common struct {
	limits  Limits
	body    atomic.Int64 // Limits.Body, which may change
	now     func() time.Time
	log     *slog.Logger
	mux     *http.ServeMux
	unknown handler // of paths that no route takes
	proxies proxies // that are believed in who calls

	onRequest func(Request) // nil: not counted

	// foreign answer an error at a path where errors have another shape; false at any other.
	foreign []func(x *exchange, e *fault.Error, status int) bool
}

// newCommon returns a common part whose unknown is still to be set before the first request.
func newCommon(limits Limits, now func() time.Time, log *slog.Logger) *common {
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &common{limits: limits.withDefaults(), now: now, log: log, mux: http.NewServeMux()}
	c.SetBody(c.limits.Body)
	return c
}

// SetBody replaces the bound of a request's body, in bytes, for every request from now on; 0: the default.
func (s *common) SetBody(limit int64) { s.body.Store(Limits{Body: limit}.withDefaults().Body) }

// handle adds a route.
func (s *common) handle(pattern string, h handler) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange) // ServeHTTP is the only way here
		x.r, x.route = r, pattern
		s.answer(x, h(x))
	})
}

// ServeHTTP answers one request.
func (s *common) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := s.now()
	x := &exchange{
		ResponseWriter: w, patient: s.limits.WriteTime, r: r, id: task.NewID(task.PrefixRequest, start), route: "none",
	}
	x.set(api.HeaderRequestID, x.id)
	from := connOf(r)
	x.client = s.proxies.name(from, r.Header)
	if r.ContentLength != 0 {
		x.unread = true
		_ = x.control().SetReadDeadline(time.Now().Add(s.limits.BodyTime))
	}
	defer s.finish(x, start)
	if from != nil && from.reserved && !aboutHealth(r.URL.Path) {
		x.Header().Set("Connection", "close")
		s.answer(x, errTooManyConns)
		return
	}
	if !clean(r.URL.Path) {
		s.answer(x, s.unknown(x)) // ServeMux would redirect, with a body of its own
		return
	}
	s.mux.ServeHTTP(x, r)
}

// errTooManyConns is the answer on a reserved connection.
var errTooManyConns = fault.New(fault.CapacityExhausted, "the service has too many connections").WithRetryAfter(readyAgain)

// aboutHealth reports whether a path tells how the service is.
func aboutHealth(path string) bool { return path == api.PathHealth || path == api.PathReady }

// finish turns a panic into INTERNAL and writes the one log line.
func (s *common) finish(x *exchange, start time.Time) {
	defer func() { x.endShowing(false) }()
	caught := recover()
	err, isError := caught.(error)
	if caught != nil && (!isError || !errors.Is(err, http.ErrAbortHandler)) {
		s.log.LogAttrs(x.r.Context(), slog.LevelError, "panic in a handler",
			slog.String("request_id", x.id), slog.Any("panic", caught), slog.String("stack", string(debug.Stack())))
		if x.status == 0 {
			s.fail(x, fault.New(fault.Internal, "the service met an unexpected fault; the same request may be sent again"))
			caught = nil
		}
	}
	s.record(x, start)
	if caught != nil {
		panic(http.ErrAbortHandler) // half a response was sent: the connection must break
	}
}

func (s *common) record(x *exchange, start time.Time) {
	took := s.now().Sub(start)
	var keyID, account string
	if x.caller != nil {
		keyID, account = x.caller.Key.ID, x.caller.Account.ID
	}
	if s.onRequest != nil {
		s.onRequest(Request{
			ID: x.id, At: start, Client: x.client, Route: x.route, Method: knownMethod(x.r.Method), Status: x.status, Took: took,
			KeyID: keyID, Account: account, TaskID: x.taskID, Code: x.code,
		})
	}
	ctx, h := context.Background(), s.log.Handler() // the request's own may have ended
	if !h.Enabled(ctx, slog.LevelInfo) {
		return
	}
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0) // no caller to look up: it is always this line
	attrs := append(make([]slog.Attr, 0, 9),
		slog.String("method", x.r.Method), slog.String("route", x.route), slog.Int("status", x.status),
		slog.String("request_id", x.id), slog.Float64("duration_ms", float64(took.Microseconds())/1000))
	for _, a := range [...]struct{ name, value string }{{"client", x.client}, {"code", string(x.code)}, {"task_id", x.taskID}, {"key_id", keyID}} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.name, a.value))
		}
	}
	line.AddAttrs(attrs...)
	_ = h.Handle(ctx, line) // a log that can't be written has nowhere to say so
}

// knownMethod keeps invented methods out of the counts.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	default:
		return "other"
	}
}

// WriteHeader notes the status and gives the client time for the next piece.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.settle()
	x.hurry()
	x.ResponseWriter.WriteHeader(status)
}

// The bounds of the rest of a body that a connection is kept for.
const (
	mostLeft = 64 << 10
	leftTime = time.Second
)

// settle ends the request's body before the answer goes out: net/http would wait for the rest of it first, as long as
// a slow client likes. A short body that has arrived is read, so that the connection serves again; else, and without
// a known key, the answer goes out at once and the connection is closed. net/http reads on before it closes: the
// deadline that stands then ends that too, or a client which stalls would keep its connection at work.
func (x *exchange) settle() {
	if !x.unread {
		return
	}
	x.unread = false
	short := x.status != http.StatusUnauthorized && x.r.ContentLength <= mostLeft && x.r.Header.Get("Expect") == ""
	_ = x.control().SetReadDeadline(time.Now().Add(leftTime))
	if short {
		_, err := io.CopyN(io.Discard, x.r.Body, mostLeft+1)
		short = errors.Is(err, io.EOF)
	}
	if short {
		_ = x.control().SetReadDeadline(time.Time{})
	} else {
		x.Header().Set("Connection", "close")
	}
}

// Write gives the client time for this piece.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	x.hurry()
	return x.ResponseWriter.Write(b)
}

// hurry gives the client time for the next piece, unless nearly all of its time is left.
func (x *exchange) hurry() {
	if until := time.Now().Add(x.patient); until.Sub(x.until) > x.patient/8 {
		x.until = until
		_ = x.control().SetWriteDeadline(until)
	}
}

// show notes that the answer, or the next event, carries the tasks to their caller: not by a HEAD, not to another node,
// which passes only the text on, and not to a client that has hung up. One that hangs up later may have read it by then.
func (s *Server) show(x *exchange, tasks ...task.Task) {
	if x.r.Method != http.MethodHead && x.r.Header.Get(relayMark) == "" && x.r.Context().Err() == nil {
		x.showing = s.gateway.Show(tasks...)
	}
}

// shown flushes the last write, with the given outcome, and ends the showing of failures that it carries. They count
// as shown once every byte is with the system.
func (x *exchange) shown(err error) error {
	if err == nil {
		err = x.control().Flush()
	}
	x.endShowing(err == nil)
	return err
}

func (x *exchange) endShowing(written bool) {
	x.showing.End(written)
	x.showing = nil
}

// control returns net/http's control of the response.
func (x *exchange) control() *http.ResponseController {
	return http.NewResponseController(x.ResponseWriter)
}

// set sets a header field by its canonical name.
func (x *exchange) set(name, value string) {
	if x.fields == len(x.values) {
		x.Header()[name] = []string{value}
		return
	}
	field := x.values[x.fields : x.fields+1 : x.fields+1]
	field[0] = value
	x.Header()[name] = field
	x.fields++
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// clean reports whether ServeMux takes the path as it is.
func clean(p string) bool {
	if !strings.HasPrefix(p, "/") {
		return false
	}
	c := path.Clean(p)
	return p == c || (p == c+"/" && c != "/")
}
