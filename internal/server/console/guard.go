package console

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/fault"
)

// policy lets a page load the service's own files, and run no inline script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secure sets the headers of every answer of the console. No answer is cached, except for the files that say
// otherwise.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // "no-referrer" would take the Origin from forms, by which they are told apart
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
}

func newGuard(base *url.URL) (*http.CrossOriginProtection, error) {
	guard := http.NewCrossOriginProtection()
	return guard, guard.AddTrustedOrigin(base.Scheme + "://" + base.Host) // a proxy may change the Host
}

// admit refuses requests that another site's page makes a browser send.
func (c *Console) admit(r *http.Request) error {
	if !c.knows(r.Host) {
		return fault.New(fault.NotFound, "the console answers under its own address only; base_url in the settings names it")
	}
	if err := c.guard.Check(r); err != nil {
		return fault.Wrap(fault.InvalidRequest, err, "the request comes from another site")
	}
	return nil
}

// errSecret refuses a secret key in an address, where histories and logs keep it.
var errSecret = fault.New(fault.InvalidRequest, "that is a secret: look for the key by its id (key_…) or its last characters")

// secretInAddress reports whether somebody looks for a key by its secret. No page shows it again.
func secretInAddress(r *http.Request) bool {
	for _, values := range r.URL.Query() {
		if slices.ContainsFunc(values, account.HoldsSecret) {
			return true
		}
	}
	return false
}

// knows reports whether a Host is the service's own name or an address. A foreign name that leads here
// (DNS rebinding) would make the console a part of a foreign site.
func (c *Console) knows(host string) bool {
	if strings.EqualFold(host, c.base.Host) {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return strings.EqualFold(name, "localhost") || strings.EqualFold(name, c.base.Hostname())
}
