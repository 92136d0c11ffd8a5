package artifact

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/fault"
)

// FetcherConfig configures a Fetcher; each zero value is a useful default.
type FetcherConfig struct {
	// Allow lists addresses that are fetched although they aren't public: "host" (ports 80 and 443), "host:port", an
	// address or a CIDR (any port).
	Allow         []string
	DialTimeout   time.Duration // DNS, connecting and TLS, each; 0: 10 s
	HeaderTimeout time.Duration // from the request to the answer's header; 0: 20 s
	IdleTimeout   time.Duration // between two reads of the body; 0: 30 s
	Timeout       time.Duration // of all together, redirects included; 0: 10 min
}

// Fetcher gets bytes from foreign addresses. It goes through no proxy, follows at most three redirects, and connects
// only to public addresses on ports for the web, or to allowed ones. It keeps no connection, so no allowance outlives
// its request. It is safe for concurrent use.
type Fetcher struct {
	config FetcherConfig
	allow  allowance
}

// FetchRequest is one address to fetch.
type FetchRequest struct {
	URL    string
	Limit  int64    // bytes after decompression, required; one more is an error
	Hosts  []string // a supplier's result_hosts, allowed for this request alone, in the form of Allow
	Source Source   // who is to blame for an address that can't be fetched
}

// Fetched is an answer with status 200. Reading returns the Source's fault if the body breaks off, stalls or is too
// long. The caller closes it.
type Fetched struct {
	io.ReadCloser
	ContentType string // as claimed, not sniffed
	Length      int64  // as claimed, before decompression; -1 if unknown
}

const maxRedirects = 3

// NewFetcher checks the configuration and returns a Fetcher.
func NewFetcher(c FetcherConfig) (*Fetcher, error) {
	allow, err := parseAllow(c.Allow)
	if err != nil {
		return nil, err
	}
	setDefault(&c.DialTimeout, 10*time.Second)
	setDefault(&c.HeaderTimeout, 20*time.Second)
	setDefault(&c.IdleTimeout, 30*time.Second)
	setDefault(&c.Timeout, 10*time.Minute)
	return &Fetcher{config: c, allow: allow}, nil
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// Fetch asks for the address and returns its body, to be read within the total timeout. Whatever is
// wrong with the address or the answer is INVALID_REQUEST about a caller's field, or
// PROVIDER_UNAVAILABLE for a supplier's result; the context's own error stays recognisable.
func (f *Fetcher) Fetch(ctx context.Context, r FetchRequest) (*Fetched, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, r.Source.bad("is not a valid address", nil) // the error repeats the address
	}
	if problem := CheckURL(u); problem != "" {
		return nil, r.Source.bad(problem, nil)
	}
	hosts, err := parseAllow(r.Hosts)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "a list of hosts is malformed")
	}
	ctx, stop := f.bounded(ctx)
	response, err := f.get(ctx, u, hosts)
	if err != nil {
		stop(nil)
		return nil, r.Source.bad("could not be fetched from a public address", withoutURL(err))
	}
	if problem := checkResponse(response); problem != "" {
		_ = response.Body.Close()
		stop(nil)
		return nil, r.Source.bad(problem, nil)
	}
	return &Fetched{
		ReadCloser:  newBody(ctx, stop, response.Body, f.config.IdleTimeout, r),
		ContentType: response.Header.Get("Content-Type"),
		Length:      response.ContentLength,
	}, nil
}

// bounded returns a context that ends with the total timeout, or when it is stopped with a cause.
func (f *Fetcher) bounded(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	timed, cancel := context.WithTimeoutCause(ctx, f.config.Timeout, errTotal)
	bounded, stop := context.WithCancelCause(timed)
	return bounded, func(cause error) {
		stop(cause) // first, so that its cause is the one that is kept
		cancel()
	}
}

// get sends one GET through a transport of its own.
func (f *Fetcher) get(ctx context.Context, u *url.URL, hosts allowance) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "unitask")
	client := &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            f.dialer(hosts),
			DisableKeepAlives:      true,
			TLSHandshakeTimeout:    f.config.DialTimeout,
			ResponseHeaderTimeout:  f.config.HeaderTimeout,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: checkRedirect,
	}
	return client.Do(request)
}

// Dialer returns the guard's dial function, for others who connect to foreign addresses. It refuses with ErrDenied.
func (f *Fetcher) Dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return f.dialer(allowance{})
}

// Refusal is why the guard won't connect to an address.
type Refusal string

// The refusals.
const (
	RefusedAddress Refusal = "address" // it isn't public
	RefusedPort    Refusal = "port"    // its host would be connected to, on another port
)

// Refuses returns why the guard will refuse the address for certain, without asking DNS, "" if it may not: a literal
// address or the machine's own name that isn't allowed, or a port that is neither for the web nor allowed.
func (f *Fetcher) Refuses(u *url.URL) Refusal {
	host, port := strings.ToLower(u.Hostname()), PortOf(u)
	if f.allow.hosts[net.JoinHostPort(host, port)] {
		return ""
	}
	named := f.allow.names(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		host = "127.0.0.1"
	}
	at, err := netip.ParseAddr(host)
	switch {
	case err != nil && (slices.Contains(webPorts, port) || len(f.allow.prefixes) > 0):
		return ""
	case err == nil && f.allow.control("", net.JoinHostPort(host, port), nil) == nil:
		return ""
	case err != nil, named, Public(at):
		return RefusedPort
	default:
		return RefusedAddress
	}
}

// PortOf returns the port of a foreign address, by its scheme if it has none.
func PortOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// dialer returns the dial function of one request: a host that is allowed by name is connected to
// as it is, any other under the guard.
func (f *Fetcher) dialer(hosts allowance) func(ctx context.Context, network, address string) (net.Conn, error) {
	all := allowance{prefixes: slices.Concat(hosts.prefixes, f.allow.prefixes)}
	open := &net.Dialer{Timeout: f.config.DialTimeout}
	guarded := &net.Dialer{Timeout: f.config.DialTimeout, Control: all.control}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		name := strings.ToLower(address)
		if f.allow.hosts[name] || hosts.hosts[name] {
			return open.DialContext(ctx, network, address)
		}
		return guarded.DialContext(ctx, network, address)
	}
}

// checkRedirect lets a redirect go on to an address that could have been given at first, and never from https back to
// http. The first address stays between us and its host.
func checkRedirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return errors.New("more than 3 redirects")
	}
	if problem := CheckURL(next.URL); problem != "" {
		return errors.New("a redirect " + problem)
	}
	if before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("a redirect leaves https")
	}
	next.Header.Del("Referer")
	return nil
}

func checkResponse(r *http.Response) string {
	if r.StatusCode != http.StatusOK {
		return "could not be fetched: its host answered " + strconv.Itoa(r.StatusCode)
	}
	// The transport has undone gzip, which is all that it asks for.
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return "is sent in an encoding that was not asked for"
	}
	return ""
}

// withoutURL drops the address, whose query may be a signature, from an error for logs.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
