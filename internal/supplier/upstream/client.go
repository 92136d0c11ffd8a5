package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream/http1"
)

const (
	// DefaultTimeout is that of one exchange: as long as a synchronous task may take.
	DefaultTimeout = 5 * time.Minute
	// DefaultLimit bounds an answer, in bytes after decompression.
	DefaultLimit = 64 << 20

	dialTimeout = 10 * time.Second // a reachable host answers a SYN well within it, two retransmissions included
	// The pause between two pieces of a stream, if the client's timeout isn't shorter; suppliers send comments or
	// pieces far more often.
	idleReadTimeout = 60 * time.Second
	// From the end of a streamed text to the end of its stream: suppliers send the usage report at once.
	reportTime = 10 * time.Second
	// Of the body of an answer that isn't a success: error bodies are short.
	problemLimit = 64 << 10
	// Larger than any request's headers, so that they are flushed together.
	writeBuffer = 32 << 10
	maxKey      = 8 << 10
)

// Config configures a Client. Only BaseURL is required.
type Config struct {
	BaseURL   string                          // http or https, without user info, query and fragment
	APIKey    supplier.KeyFunc                // nil: no key is sent
	Authorize func(h http.Header, key string) // puts the key into the headers and does no more; nil: Authorization: Bearer
	Timeout   time.Duration                   // of one exchange; 0: DefaultTimeout
	Proxy     string                          // a proxy's URL, without a password; "": no proxy
	// ProxyPassword returns the password of the proxy's user at the moment of use; nil: no password.
	ProxyPassword supplier.KeyFunc
	Standard      bool                                                                 // use net/http's Transport, HTTP/2 included
	Dial          func(ctx context.Context, network, address string) (net.Conn, error) // nil: the network
}

// Client sends calls to one supplier. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	last      atomic.Pointer[target]       // the address of the newest call
	usual     atomic.Pointer[http1.Fields] // of the newest call that brought JSON and no header of its own
	key       supplier.KeyFunc
	authorize func(h http.Header, key string)
	timeout   time.Duration
	carrier   carrier
}

// Call is one request.
type Call struct {
	Method string      // "": POST
	Path   string      // below the base URL, escaped, with a leading slash and perhaps a query
	Header http.Header // beyond those that the client sets; may be nil
	Body   []byte      // nil: no body; JSON unless Header says otherwise
	More   [][]byte    // of the body: what follows Body
	Limit  int64       // of the answer, in bytes after decompression; 0: DefaultLimit
}

// Answer is a whole answer, of whatever status.
type Answer struct {
	Status int
	Header http1.Header
	Body   []byte
}

// OK reports whether the status is one of success.
func (a Answer) OK() bool { return a.Status >= 200 && a.Status <= 299 }

// New returns a client, or an error about c.
func New(c Config) (*Client, error) {
	base, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Timeout < 0 {
		return nil, errors.New("timeout is negative")
	}
	proxy, err := parseProxy(c.Proxy, c.ProxyPassword)
	if err != nil {
		return nil, err
	}
	client := &Client{base: base, key: c.APIKey, authorize: c.Authorize, timeout: c.Timeout}
	if client.timeout == 0 {
		client.timeout = DefaultTimeout
	}
	if client.authorize == nil {
		client.authorize = bearer
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	if c.Standard || proxy != nil {
		client.carrier, err = newStandard(base, c.Dial, proxy, c.Standard)
	} else {
		client.carrier, err = http1.New(base, c.Dial)
	}
	if err != nil {
		return nil, errors.New("base_url's host is no host")
	}
	return client, nil
}

// Host returns the host of the base URL, without its port.
func (c *Client) Host() string { return c.base.Hostname() }

// Do sends the call and reads the whole answer, within the client's timeout.
func (c *Client) Do(ctx context.Context, call Call) (Answer, error) {
	s, err := c.open(ctx, call, false)
	if err != nil {
		return Answer{}, err
	}
	return s.Answer()
}

// Reach asks for the base URL, without the key, and returns nil once an answer of whatever status has begun.
func (c *Client) Reach(ctx context.Context) error {
	at := *c.base
	at.Path += "/"
	var answer http1.Response
	r := http1.Request{Method: http.MethodGet, URL: &at, Target: at.RequestURI(), Fields: http1.NewFields("", http.Header{"User-Agent": userAgent})}
	if err := c.carrier.Carry(ctx, r, c.timeout, &answer); err != nil {
		return broken(err)
	}
	_ = answer.Body.Close() // it isn't read
	return nil
}

// Open sends the call and returns as soon as the answer has started. From there the body may take as long
// as ctx allows, with no pause longer than the timeout or a minute. The caller closes the Stream.
func (c *Client) Open(ctx context.Context, call Call) (*Stream, error) {
	return c.open(ctx, call, true)
}

func (c *Client) open(ctx context.Context, call Call, live bool) (*Stream, error) {
	r, err := c.request(call)
	if err != nil {
		return nil, err
	}
	s := &Stream{}
	if err := c.carrier.Carry(ctx, r, c.timeout, &s.Response); err != nil {
		return nil, broken(err)
	}
	s.limit(call.Limit)
	if live {
		s.pause = min(idleReadTimeout, c.timeout)
	}
	return s, nil
}

// request builds the one request of a call; its errors are *supplier.Error.
func (c *Client) request(call Call) (http1.Request, error) {
	if !strings.HasPrefix(call.Path, "/") {
		return http1.Request{}, Failure(supplier.NotSent, fault.Internal, errors.New("a call's path lacks its slash"))
	}
	at, err := c.address(call.Path)
	if err != nil {
		return http1.Request{}, Failure(supplier.NotSent, fault.Internal, errors.New("a call's path is malformed"))
	}
	key, err := c.newestKey()
	if err != nil {
		return http1.Request{}, err
	}
	return http1.Request{
		Method: cmp.Or(call.Method, http.MethodPost), URL: at.url, Target: at.target, Fields: c.header(call, key), Body: call.Body, More: call.More,
	}, nil
}

// header returns the header of a call. Most calls have no header of their own and reuse that of the call before them.
func (c *Client) header(call Call, key string) *http1.Fields {
	usual := call.Body != nil && len(call.Header) == 0
	if last := c.usual.Load(); usual && last != nil && last.Key == key {
		return last
	}
	fields := make(http.Header, 3+len(call.Header))
	fields["User-Agent"] = userAgent
	if call.Body != nil {
		fields["Content-Type"] = jsonType
	}
	for name, values := range call.Header {
		fields[http.CanonicalHeaderKey(name)] = values
	}
	if key != "" {
		c.authorize(fields, key)
	}
	h := http1.NewFields(key, fields)
	if usual {
		c.usual.Store(h)
	}
	return h
}

// The headers that requests share.
var (
	userAgent = []string{"unitask"}
	jsonType  = []string{"application/json"}
)

// target is a path below the base URL and the whole of it.
type target struct {
	path, target string
	url          *url.URL // not to be changed
}

// address returns the URL of a path. Most calls go to the address of the one before them.
func (c *Client) address(path string) (*target, error) {
	if last := c.last.Load(); last != nil && last.path == path {
		return last, nil
	}
	u, err := url.Parse(c.base.String() + path)
	if err != nil {
		return nil, err
	}
	at := &target{path, u.RequestURI(), u}
	c.last.Store(at)
	return at, nil
}

// newestKey returns the key as it is at this very moment; "" if it isn't sent.
func (c *Client) newestKey() (string, error) {
	if c.key == nil {
		return "", nil
	}
	key, err := c.key()
	if err == nil {
		err = checkKey(key)
	}
	if err != nil {
		e := Failure(supplier.NotSent, fault.ProviderUnavailable, fmt.Errorf("key: %w", err))
		e.Operator = true
		return "", e
	}
	return key, nil
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// checkKey refuses a key that net/http would refuse or fold, without showing it.
func checkKey(key string) error {
	if key == "" {
		return errors.New("empty")
	}
	if len(key) > maxKey {
		return errors.New("too long")
	}
	for _, b := range []byte(key) {
		if b <= ' ' || b >= 0x7f {
			return errors.New("has a character that no header can carry")
		}
	}
	return nil
}
