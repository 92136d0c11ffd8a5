package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/secret"
)

// afterLimit is how long a request may last beyond a call's wait: a result's files are put into the answer then.
const afterLimit = 30 * time.Second

// HTTPConfig configures an HTTP.
type HTTPConfig struct {
	BaseURL string        // the service's, with which the addresses of its files begin; required
	Version string        // of the service
	Limit   time.Duration // of a call's wait; 0: DefaultLimit
	Logger  *slog.Logger  // nil: discarded
}

// HTTP answers the protocol's streamable HTTP for the service that it runs in. It keeps nothing between two requests
// but schemas: each is a session of its own, so that any node of a fleet answers the next one. It is safe for
// concurrent use.
type HTTP struct {
	config HTTPConfig
	base   *url.URL
	shelf  shelf
	life   context.Context
	end    context.CancelFunc
}

// Visit is what a request may use of the service.
type Visit struct {
	API       http.Handler            // the API's own, which checks the request's key as any caller's
	Directory func() []api.Capability // what the key may call
	Room      func(bytes int64) bool  // takes memory until the request is answered, false if there is none
	Method    string                  // of the message; "" if it can't be read
	// Notification is whether the message has no id, and so no answer.
	Notification bool
}

// NewHTTP returns an HTTP.
func NewHTTP(c HTTPConfig) (*HTTP, error) {
	base, err := client.ParseBaseURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Limit <= 0 {
		c.Limit = DefaultLimit
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	h := &HTTP{config: c, base: base}
	h.life, h.end = context.WithCancel(context.Background())
	return h, nil
}

// Close ends the calls under way, and later ones at once: each is answered by the id of its task, which goes on.
func (h *HTTP) Close() { h.end() }

// Serve answers a request whose key was found good and whose body is in memory. It returns once nothing of the
// request is under way any more, but for its task.
func (h *HTTP) Serve(w http.ResponseWriter, r *http.Request, v Visit) {
	ctx, cancel := context.WithTimeout(r.Context(), h.config.Limit+afterLimit)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	here := newInProcess(v.API, h.base, r)
	defer here.wait()
	defer cancel()
	c, err := client.New(client.Config{BaseURL: h.config.BaseURL, Key: keyOf(r), HTTPClient: &http.Client{Transport: here}})
	if err != nil { // never: the address was parsed before
		http.Error(w, "the service has no address", http.StatusInternalServerError)
		return
	}
	s := New(Config{
		Client: c, Version: h.config.Version, Limit: h.config.Limit, Room: v.Room, Note: h.note,
		directoryFunc: v.Directory, once: true, shelf: &h.shelf,
	})
	s.protocol.AddReceivingMiddleware(endingWith(ctx), withoutListening)
	if refuseUnknown(s.protocol, v.Method) && v.Notification {
		w.WriteHeader(http.StatusAccepted) // to which the protocol knows no answer
		return
	}
	sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.protocol }, &sdk.StreamableHTTPOptions{
		Stateless: true,
		// The server bounds bodies itself, and a request has a key, so that a page which a foreign name led here
		// can't ask for anything. A proxy on the same machine may call the server by any name.
		MaxRequestBodyBytes: -1, DisableLocalhostProtection: true,
	}).ServeHTTP(w, r)
}

func (h *HTTP) note(format string, args ...any) {
	h.config.Logger.Warn("a tool's answer isn't whole", slog.String("what", fmt.Sprintf(format, args...)))
}

// keyOf gives the key that a request came with.
func keyOf(r *http.Request) client.KeyFunc {
	_, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	value := secret.New(strings.TrimSpace(key))
	return func(context.Context) (secret.Value, error) { return value, nil }
}

// refuseUnknown has a method that the library doesn't know answered by the protocol's error: the library refuses the whole
// request, in a shape that clients of the protocol can't read. It reports whether the method is such a one.
func refuseUnknown(s *sdk.Server, method string) bool {
	if method == "" {
		return false
	}
	err := sdk.AddReceivingCustomMethod(s, method, func(context.Context, *sdk.ServerSession, *unknownParams) (*sdk.ResultBase, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is no such method here"}
	}) // an error for a method that the library knows, which stays as it is
	return err == nil
}

// unknownParams are the parameters of any method.
type unknownParams struct{ sdk.ParamsBase }

// UnmarshalJSON takes any value, also one that no method may have: the refusal is of the method.
func (*unknownParams) UnmarshalJSON([]byte) error { return nil }

// withoutListening refuses the one method whose answer has no end.
func withoutListening(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "subscriptions/listen" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there are no subscriptions here"}
		}
		return next(ctx, method, req)
	}
}
