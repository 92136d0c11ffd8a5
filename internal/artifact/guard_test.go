package artifact_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"unitask/internal/artifact"
)

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "172.15.255.255": true, "172.32.0.0": true, "100.63.255.255": true,
		"100.128.0.0": true, "198.17.255.255": true, "198.20.0.0": true, "223.255.255.255": true,
		"2606:4700:4700::1111": true, "2a00:1450::1": true, "2001:200::1": true, "::ffff:8.8.8.8": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "100.64.0.1": false, "100.127.255.255": false,
		"127.0.0.1": false, "127.255.255.254": false, "169.254.169.254": false, "172.16.0.1": false,
		"172.31.255.255": false, "192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false,
		"192.168.1.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false,
		"203.0.113.1": false, "224.0.0.1": false, "239.255.255.250": false, "240.0.0.1": false,
		"255.255.255.255": false, "168.63.129.16": false,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false,
		"::8.8.8.8": false, "::ffff:0:8.8.8.8": false, "64:ff9b::8.8.8.8": false, "64:ff9b:1::8.8.8.8": false,
		"100::1": false, "2001::1": false, "2001:2::1": false, "2001:10::1": false, "2001:20::1": false,
		"2001:db8::1": false, "2002:7f00:1::": false, "2002:808:808::": false, "3fff::1": false, "5f00::1": false,
		"fc00::1": false, "fd00:ec2::254": false, "fe80::1": false, "fe80::1%eth0": false, "::ffff:8.8.8.8%eth0": false, "fec0::1": false,
		"ff02::1": false, "2a00:1450::1%eth0": false, "2a00:1450::5efe:7f00:1": false, "2a00:1450::200:5efe:a00:1": false,
	} {
		if got := artifact.Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("Public(%s) = %t, want %t", text, got, want)
		}
	}
	if artifact.Public(netip.Addr{}) {
		t.Error("the invalid address is public")
	}
}

func TestControl(t *testing.T) {
	tests := []struct {
		name    string
		allow   []string
		address string
		denied  bool
	}{
		{"public", nil, "8.8.8.8:443", false},
		{"public on another port", nil, "8.8.8.8:22", true},
		{"public 6", nil, "[2606:4700::1]:80", false},
		{"private", nil, "10.0.0.1:80", true},
		{"not an address", nil, "localhost:80", true},
		{"allowed range, any port", []string{"10.0.0.0/8"}, "10.1.2.3:9000", false},
		{"allowed range, mapped", []string{"10.0.0.0/8"}, "[::ffff:10.1.2.3]:9000", false},
		{"outside the allowed range", []string{"10.0.0.0/8"}, "11.1.2.3:9000", true},
		{"allowed address", []string{"::1"}, "[::1]:9000", false},
		{"its neighbour", []string{"10.0.0.1"}, "10.0.0.2:80", true},
		{"a range with a careless tail", []string{"10.0.0.1/8"}, "10.9.9.9:80", false},
		{"a name is no address", []string{"localhost"}, "127.0.0.1:80", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := artifact.Control(tt.allow, tt.address); errors.Is(err, artifact.ErrDenied) != tt.denied {
				t.Errorf("%s: %v, want denied: %t", tt.address, err, tt.denied)
			}
		})
	}
}

// wraps are the ways to write an IPv4 address inside an IPv6 one that networks translate back.
var wraps = map[string]func(v4 [4]byte) [16]byte{
	"mapped":     func(v [4]byte) [16]byte { return join(10, "\xff\xff", v) },
	"compatible": func(v [4]byte) [16]byte { return join(12, "", v) },
	"translated": func(v [4]byte) [16]byte { return join(8, "\xff\xff\x00\x00", v) },
	"NAT64":      func(v [4]byte) [16]byte { return join(0, "\x00\x64\xff\x9b\x00\x00\x00\x00\x00\x00\x00\x00", v) },
	"local NAT64": func(v [4]byte) [16]byte {
		return join(0, "\x00\x64\xff\x9b\x00\x01\x00\x00\x00\x00\x00\x00", v)
	},
	"6to4":   func(v [4]byte) [16]byte { return join(0, "\x20\x02", v) },
	"ISATAP": func(v [4]byte) [16]byte { return join(0, "\x2a\x00\x14\x50\x00\x00\x00\x00\x00\x00\x5e\xfe", v) },
	"Teredo": func(v [4]byte) [16]byte {
		for i := range v {
			v[i] ^= 0xff
		}
		return join(0, "\x20\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", v)
	},
}

func join(skip int, prefix string, v4 [4]byte) (out [16]byte) {
	copy(out[skip:], prefix)
	copy(out[skip+len(prefix):], v4[:])
	return out
}

// internal is the standard library's own judgement and the ranges that it has no word for.
func internal(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	return !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() ||
		a.IsUnspecified() || netip.MustParsePrefix("100.64.0.0/10").Contains(a) ||
		netip.MustParsePrefix("198.18.0.0/15").Contains(a) || netip.MustParsePrefix("0.0.0.0/8").Contains(a)
}

// FuzzGuard: whatever is dialled, an internal address is refused, in every way of writing it.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{
		"127.0.0.1", "8.8.8.8", "::1", "::ffff:10.0.0.1", "169.254.169.254", "64:ff9b::7f00:1", "fe80::1%1", "2130706433", "0x7f.1",
	} {
		f.Add(seed, []byte{10, 0, 0, 1})
	}
	f.Fuzz(func(t *testing.T, host string, v4 []byte) {
		for _, address := range []string{host + ":80", "[" + host + "]:80"} {
			at, err := netip.ParseAddrPort(address)
			allowed := artifact.Control(nil, address) == nil
			if allowed && (err != nil || internal(at.Addr()) || at.Addr().Zone() != "") {
				t.Errorf("connecting to %s is allowed", address)
			}
		}
		if len(v4) != 4 || !internal(netip.AddrFrom4([4]byte(v4))) {
			return
		}
		for name, wrap := range wraps {
			if a := netip.AddrFrom16(wrap([4]byte(v4))); artifact.Public(a) {
				t.Errorf("%s is internal, but as %s it is public: %s", netip.AddrFrom4([4]byte(v4)), name, a)
			}
		}
	})
}

func TestAllowEntries(t *testing.T) {
	for _, entry := range []string{"", "http://host", "user@host", "a b", "/etc"} {
		if _, err := artifact.NewFetcher(artifact.FetcherConfig{Allow: []string{entry}}); err == nil || !strings.Contains(err.Error(), "CIDR") {
			t.Errorf("entry %q gave %v, want a refusal that says what an entry is", entry, err)
		}
	}
}
