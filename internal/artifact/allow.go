package artifact

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// webPorts are the ports of the public internet that are connected to; others speak to services
// that were not made for strangers.
var webPorts = []string{"80", "443", "8080", "8443"}

// allowance is who may be connected to although the guard would refuse: some hosts, by name and
// port, and some addresses, on any port.
type allowance struct {
	hosts    map[string]bool // "host:port", lower case
	prefixes []netip.Prefix
}

// parseAllow reads entries such as "minio.internal:9000", "media.example" (ports 80 and 443),
// "10.1.2.3" or "10.0.0.0/8" (any port).
func parseAllow(entries []string) (allowance, error) {
	a := allowance{hosts: map[string]bool{}}
	for _, entry := range entries {
		if p, err := netip.ParsePrefix(entry); err == nil {
			a.prefixes = append(a.prefixes, p.Masked())
			continue
		}
		if ip, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil && ip.Zone() == "" {
			a.prefixes = append(a.prefixes, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
			continue
		}
		if err := a.addHost(entry); err != nil {
			return allowance{}, err
		}
	}
	return a, nil
}

func (a allowance) addHost(entry string) error {
	host, port, err := net.SplitHostPort(entry)
	if err != nil {
		host, port = entry, ""
	}
	if number, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || number == 0) {
		host = ""
	}
	if host == "" || strings.ContainsAny(host, "/@?#[] ") {
		return fmt.Errorf("artifact: %q is no host, host:port, address or CIDR", entry)
	}
	ports := []string{port}
	if port == "" {
		ports = []string{"80", "443"}
	}
	for _, p := range ports {
		a.hosts[net.JoinHostPort(strings.ToLower(host), p)] = true
	}
	return nil
}

func (a allowance) prefix(ip netip.Addr) bool {
	return slices.ContainsFunc(a.prefixes, func(p netip.Prefix) bool { return p.Contains(ip.Unmap()) })
}

// names reports whether a host is allowed by its name, on whichever port.
func (a allowance) names(host string) bool {
	for allowed := range a.hosts {
		if name, _, err := net.SplitHostPort(allowed); err == nil && name == host {
			return true
		}
	}
	return false
}

// ErrDenied is the guard's refusal to connect.
var ErrDenied = errors.New("the address is not public")

// control is a net.Dialer's Control: address is DNS's answer for this one connection.
func (a allowance) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrDenied
	}
	if a.prefix(at.Addr()) {
		return nil
	}
	if !Public(at.Addr()) || !slices.Contains(webPorts, strconv.Itoa(int(at.Port()))) {
		return ErrDenied
	}
	return nil
}

// CheckURL returns the fault of a foreign address before it is resolved, or "".
func CheckURL(u *url.URL) string {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "must be an http or https address"
	case u.Hostname() == "" || u.Opaque != "":
		return "must name a host"
	case u.User != nil:
		return "must not hold a user or a password"
	}
	return ""
}
