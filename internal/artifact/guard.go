package artifact

import "net/netip"

// reserved are the ranges that no public host lives in, and those that carry an IPv4 address
// inside, through which a denied one could be reached. Of IPv6 only 2000::/3 is public at all, so
// loopback, unique-local, link-local, multicast, v4-compatible and NAT64 need no row.
var reserved = mustPrefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // a cloud's host, reachable from its guests only
	"169.254.0.0/16",   // link-local, with the metadata services
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
	"2001::/23",        // protocol assignments: Teredo, benchmarks, ORCHID
	"2001:db8::/32",    // documentation
	"2002::/16",        // 6to4
	"3fff::/20",        // documentation
)

var public6 = netip.MustParsePrefix("2000::/3")

// Public reports whether a is an address of the public internet. An address with a zone, an IPv4
// address wrapped in IPv6 in any way but v4-mapped, and an invalid address are not; a v4-mapped one
// counts as the IPv4 address it is.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.Is6() && (!public6.Contains(a) || isISATAP(a)) {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// isISATAP recognises an IPv4 address tunnelled in the last half of any IPv6 prefix.
func isISATAP(a netip.Addr) bool {
	b := a.As16()
	return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

func mustPrefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}
