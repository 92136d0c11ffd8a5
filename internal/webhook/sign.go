package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a delivery, as Standard Webhooks 1.0 names them.
const (
	HeaderID        = "Webhook-Id"        // of the event: the same on every attempt
	HeaderTimestamp = "Webhook-Timestamp" // of the attempt, in Unix seconds
	HeaderSignature = "Webhook-Signature" // "v1," and base64, once for each secret, separated by spaces
)

const (
	secretPrefix = "whsec_"
	scheme       = "v1,"
	// ServiceSecretSize is the length in bytes of the service's secret that endpoints' secrets are derived from.
	ServiceSecretSize = 32
	// Tolerance is how far the timestamp of a delivery may be from the receiver's clock: a copied one is of no use later.
	Tolerance = 5 * time.Minute
)

// The errors of Verify and ParseSecret.
var (
	ErrSecret    = errors.New("webhook: a secret is whsec_ and 24 to 64 bytes in base64")
	ErrHeaders   = errors.New("webhook: a header is missing or malformed")
	ErrTimestamp = errors.New("webhook: the timestamp is too far from now")
	ErrSignature = errors.New("webhook: no signature fits")
)

// Secret signs the deliveries to one endpoint. It redacts itself for fmt, slog and JSON.
type Secret struct{ key *[]byte } // a pointer, so that fmt prints no bytes from another struct's unexported field

// DeriveSecret returns the secret of a generation of an endpoint, from the service's own secret.
func DeriveSecret(service []byte, endpoint string, generation int) Secret {
	h := hmac.New(sha256.New, service)
	h.Write([]byte(endpoint + "." + strconv.Itoa(generation)))
	key := h.Sum(nil)
	return Secret{&key}
}

// ParseSecret reads a secret as Reveal writes it, or ErrSecret.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 || strings.ContainsAny(encoded, "\r\n") {
		return Secret{}, ErrSecret
	}
	return Secret{&key}, nil
}

// Reveal returns the secret as receivers configure it: whsec_ and base64.
func (s Secret) Reveal() string { return secretPrefix + base64.StdEncoding.EncodeToString(s.bytes()) }

// String redacts the secret.
func (Secret) String() string { return "[redacted]" }

// GoString redacts the secret.
func (s Secret) GoString() string { return s.String() }

// LogValue redacts the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText redacts the secret, for JSON too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Secret) bytes() []byte {
	if s.key == nil {
		return nil
	}
	return *s.key
}

// mac is the signature over the event's id, the attempt's time and the body.
func (s Secret) mac(id, timestamp string, body []byte) []byte {
	h := hmac.New(sha256.New, s.bytes())
	h.Write([]byte(id + "." + timestamp + "."))
	h.Write(body)
	return h.Sum(nil)
}

// Sign sets the three headers of a delivery that is sent at the given time: a signature for each secret.
func Sign(h http.Header, id string, at time.Time, body []byte, secrets ...Secret) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		signatures[i] = scheme + base64.StdEncoding.EncodeToString(s.mac(id, timestamp, body))
	}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, timestamp)
	h.Set(HeaderSignature, strings.Join(signatures, " "))
}

// Verify reports whether the delivery was signed with the secret within Tolerance of now: nil, ErrHeaders, ErrTimestamp
// or ErrSignature.
func Verify(h http.Header, now time.Time, body []byte, s Secret) error {
	id, timestamp, signatures := h.Get(HeaderID), h.Get(HeaderTimestamp), h.Get(HeaderSignature)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" || signatures == "" || len(s.bytes()) == 0 {
		return ErrHeaders
	}
	if off := now.Sub(time.Unix(seconds, 0)); off > Tolerance || off < -Tolerance {
		return ErrTimestamp
	}
	want := s.mac(id, timestamp, body)
	for signature := range strings.FieldsSeq(signatures) {
		encoded, ok := strings.CutPrefix(signature, scheme)
		if got, bad := base64.StdEncoding.DecodeString(encoded); ok && bad == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return ErrSignature
}
