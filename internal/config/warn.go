package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Warnings lists the risks that the settings leave open, one line each: keys and inputs that cross a network in
// clear, and secrets that every user of the machine may read. They aren't errors, because another program, or the
// server's environment, may handle them.
func (c Config) Warnings() []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if clear(c.BaseURL) {
		add("base_url: %s is reached without TLS: keys and inputs can be read on the way; use https://", c.BaseURL)
	} else if host, _, err := net.SplitHostPort(c.Listen); err == nil && !loopback(host) && !strings.HasPrefix(c.BaseURL, "https://") {
		add("listen: %s can be reached from other machines, and there is no TLS: put a proxy that terminates TLS before it, "+
			"and set base_url to its https:// address", c.Listen)
	}
	if clear(c.NodeURL) {
		add("node_url: %s is reached without TLS: callers' keys can be read on the way from other nodes; use https://", c.NodeURL)
	}
	if host, _, err := net.SplitHostPort(c.MetricsListen); err == nil && !loopback(host) {
		add("metrics_listen: %s can be reached from other machines, and /metrics asks for no key", c.MetricsListen)
	}
	if b, ok := c.Bucket(); ok && clear(b.Endpoint) {
		add("artifacts: %s is reached without TLS: results and inputs can be read on the way; use https://", b.Endpoint)
	}
	for _, s := range c.Suppliers {
		if clear(s.BaseURL) {
			add("supplier %s: %s is reached without TLS: its key and the callers' inputs can be read on the way; use https://", s.Name, s.BaseURL)
		}
		for _, secret := range []interface{ Warning() string }{s.APIKey, s.ProxyPassword} {
			if text := secret.Warning(); text != "" {
				add("supplier %s: %s", s.Name, text)
			}
		}
	}
	return all
}

// clear reports whether an address leads over a public network without TLS. A name without a dot is one of
// a private network, as containers have.
func clear(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast() && !ip.IsUnspecified()
	}
	for _, private := range []string{".local", ".localhost", ".internal", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, private) {
			return false
		}
	}
	return strings.Contains(host, ".")
}

// loopback reports whether only this machine reaches a listener on a host.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
