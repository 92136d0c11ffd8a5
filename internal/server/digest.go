package server

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"

	"unitask/internal/fault"
)

// digestMember is the first member of a Content-Digest: an algorithm and a byte sequence.
var digestMember = regexp.MustCompile(`^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):[ \t]*`)

// digestOf returns the SHA-256 in a request's Content-Digest (RFC 9530) in hexadecimal, "" if there is none. Other
// algorithms are ignored. The field is a dictionary (RFC 9651), of which parameters and other types are refused here.
func digestOf(lines []string) (sum string, _ error) {
	rest := strings.Trim(strings.Join(lines, ","), " ")
	for more := rest != ""; more; {
		member := digestMember.FindStringSubmatch(rest)
		if member == nil {
			return "", fault.Invalid("Content-Digest", "must be of the form sha-256=:BASE64:")
		}
		if member[1] == "sha-256" {
			raw, err := base64.StdEncoding.Strict().DecodeString(member[2])
			switch {
			case err != nil || len(raw) != 32:
				return "", fault.Invalid("Content-Digest", "must have 32 bytes in base64 as sha-256")
			case sum != "":
				return "", fault.Invalid("Content-Digest", "must have one sha-256")
			}
			sum = hex.EncodeToString(raw)
		}
		if rest, more = strings.CutPrefix(rest[len(member[0]):], ","); more {
			rest = strings.TrimLeft(rest, " \t")
		} else if rest != "" {
			return "", fault.Invalid("Content-Digest", "must be of the form sha-256=:BASE64:")
		}
	}
	return sum, nil
}
