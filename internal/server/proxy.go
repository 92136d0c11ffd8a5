package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks of proxies that are believed in who calls through them.
type proxies []netip.Prefix

func (p proxies) trust(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(a) })
}

// client returns the address of who sent a request: that of its connection or, if that is a trusted proxy's, the last
// one in their header that isn't a proxy's. The addresses before it may be forged. X-Forwarded-For goes before
// Forwarded.
func (p proxies) client(peer netip.Addr, h http.Header) netip.Addr {
	if !p.trust(peer) {
		return peer
	}
	named := forwardedFor(h)
	for _, text := range slices.Backward(named) {
		a, err := parseNode(text)
		if err != nil {
			return peer // a name, or text that no proxy writes
		}
		if peer = a; !p.trust(a) {
			break
		}
	}
	return peer
}

// forwardedFor returns the nodes that the header names, in order.
func forwardedFor(h http.Header) []string {
	if values := h["X-Forwarded-For"]; len(values) > 0 {
		return strings.Split(strings.Join(values, ","), ",")
	}
	return forwarded(h, "for")
}

// forwarded returns a parameter's value in each element of Forwarded, "" in one without it.
func forwarded(h http.Header, parameter string) []string {
	var values []string
	for _, element := range strings.FieldsFunc(strings.Join(h["Forwarded"], ","), func(r rune) bool { return r == ',' }) {
		found := ""
		for pair := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if strings.EqualFold(name, parameter) {
				found = strings.Trim(value, `"`)
			}
		}
		values = append(values, found)
	}
	return values
}

// private reports whether no stranger on the way can read a request: it is of this machine, or the trusted proxy that
// it came through says that its own client used TLS. A proxy's word counts if all of it is "https".
func (p proxies) private(c *conn, h http.Header) bool {
	schemes := forwardedSchemes(h)
	switch {
	case c == nil:
		return false
	case c.proxy && len(schemes) > 0:
		return !slices.ContainsFunc(schemes, func(s string) bool { return !strings.EqualFold(strings.TrimSpace(s), "https") })
	default: // a header of a proxy that isn't trusted, or that leaves the scheme out
		return len(schemes)+len(forwardedFor(h)) == 0 && c.peer.IsLoopback()
	}
}

// forwardedSchemes returns the schemes of X-Forwarded-Proto, else those that Forwarded names.
func forwardedSchemes(h http.Header) []string {
	if values := h["X-Forwarded-Proto"]; len(values) > 0 {
		return strings.Split(strings.Join(values, ","), ",")
	}
	return forwarded(h, "proto")
}

// parseNode reads an address, in brackets or not, with a port or without.
func parseNode(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), nil
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone(""), err
}

// name returns the address of who sent a request over the connection, in words; "" if that is nil.
func (p proxies) name(c *conn, h http.Header) string {
	switch {
	case c == nil:
		return ""
	case !c.proxy:
		return c.name
	default:
		return p.client(c.peer, h).String()
	}
}
