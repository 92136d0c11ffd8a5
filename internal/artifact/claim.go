package artifact

import (
	"bytes"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/fault"
)

const typePDF = "application/pdf"

// claims maps the media types that callers have for a kept type to that type. Containers that hold sound and film are
// one: their content isn't known from their head.
var claims = map[string]string{
	typePNG: typePNG, typeJPEG: typeJPEG, "image/jpg": typeJPEG, typeWebP: typeWebP, typeGIF: typeGIF, typePDF: typePDF,
	typeWAV: typeWAV, "audio/x-wav": typeWAV, "audio/wave": typeWAV, "audio/vnd.wave": typeWAV, "audio/x-pn-wav": typeWAV,
	typeMPEG: typeMPEG, "audio/mp3": typeMPEG, "audio/mpeg3": typeMPEG, "audio/x-mp3": typeMPEG, "audio/mpga": typeMPEG,
	typeOgg: typeOgg, "audio/opus": typeOgg, "audio/vorbis": typeOgg, typeFLAC: typeFLAC, "audio/x-flac": typeFLAC,
	typeAAC: typeAAC, "audio/aacp": typeAAC, "audio/x-aac": typeAAC,
	typeM4A: typeMP4, "audio/m4a": typeMP4, "audio/x-m4a": typeMP4, typeMP4: typeMP4,
	"audio/webm": typeWebM, typeWebM: typeWebM,
}

// Contradicts returns the type that the first SniffLen bytes prove if that differs from the claimed one; "" if the
// two agree, or one is unknown.
func Contradicts(claim string, head []byte) string {
	kind, _, _ := strings.Cut(claim, ";")
	claimed, proved := claims[strings.ToLower(strings.TrimSpace(kind))], Sniff(head)
	if proved == "" && isPDF(head) {
		proved = typePDF
	}
	if claimed == "" || proved == "" || claims[proved] == claimed {
		return ""
	}
	return proved
}

// Announceable returns the content type that a caller may announce a file as, in our own spelling; "" for any other.
func Announceable(claim string) string {
	if text := textKind(claim); text != "" {
		return text
	}
	kind, _, _ := strings.Cut(claim, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if claims[kind] == "" {
		return ""
	}
	return kind
}

// Belies returns what is wrong with a file whose first SniffLen bytes are head and that is announced as claim, which is
// announceable; "" if the two agree.
func Belies(claim string, head []byte) (problem string) {
	proved, err := InputType(head, claim, FromCaller("it"))
	switch {
	case err != nil:
		return strings.TrimPrefix(fault.From(err).Message, "it ")
	case textKind(claim) != "" && proved != textKind(claim), Contradicts(claim, head) != "":
		return "is " + proved + " by its bytes"
	default:
		return ""
	}
}

func isPDF(head []byte) bool { return bytes.HasPrefix(head, []byte("%PDF-")) }

// RefusesURL returns the fault of a caller's address that shows without resolving it, "" if Fetch may succeed: its
// form, and a literal address that isn't connected to.
func (f *Fetcher) RefusesURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "is not a valid address"
	}
	if problem := CheckURL(u); problem != "" {
		return problem
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "has a port that doesn't exist"
	}
	if !f.allow.hosts[net.JoinHostPort(host, port)] && f.allow.refusesHost(host, port) {
		return "must be an address of the public internet"
	}
	return ""
}

// refusesHost reports whether a host is a literal address that isn't connected to, or a name that can only lead
// to this machine or nowhere.
func (a allowance) refusesHost(host, port string) bool {
	host = strings.TrimSuffix(host, ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return !a.prefix(ip) && (!Public(ip) || !slices.Contains(webPorts, port))
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "localhost" {
		return !a.prefix(netip.MustParseAddr("127.0.0.1")) && !a.prefix(netip.IPv6Loopback())
	}
	return numeric(last) // an address in a spelling of its own, such as 127.1 or 0x7f.1: no top-level domain is a number
}

// numeric reports whether a host's last label is a number, as the URL standard tells addresses from names.
func numeric(label string) bool {
	if digits, hex := strings.CutPrefix(label, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}
