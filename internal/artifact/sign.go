package artifact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"time"

	"unitask/internal/task"
)

// SecretSize is the length in bytes of a Signer's secret.
const SecretSize = 32

// Signer signs the addresses of artifacts and checks them again. It is safe for concurrent use.
type Signer struct {
	secret []byte
	half   time.Duration
}

// NewSigner returns a Signer whose addresses hold for at least half of ttl and at most all of it.
// The secret is SecretSize random bytes that outlive the process; ttl is 2 s or more.
func NewSigner(secret []byte, ttl time.Duration) (*Signer, error) {
	if len(secret) != SecretSize {
		return nil, errors.New("artifact: a signing secret has 32 bytes")
	}
	half := (ttl / 2).Truncate(time.Second)
	if half < time.Second {
		return nil, errors.New("artifact: a signed address must hold for 2s or longer")
	}
	return &Signer{secret: append([]byte(nil), secret...), half: half}, nil
}

// Window returns the window of half a TTL that now falls in, and when addresses made in it expire.
// All reads in one window get the same address, so an ETag over the index holds as long as they do.
func (s *Signer) Window(now time.Time) (index int64, expires time.Time) {
	step := int64(s.half / time.Second)
	index = now.Unix() / step
	return index, time.Unix((index+2)*step, 0).UTC()
}

// Sign returns the query that lets its bearer read the artifact until expires, a whole second.
func (s *Signer) Sign(id string, expires time.Time) string {
	at := strconv.FormatInt(expires.Unix(), 10)
	return "exp=" + at + "&sig=" + s.mac(addressOfResult, id, at)
}

// SignUpload returns the query that lets its bearer send and follow the upload until expires, a whole second.
func (s *Signer) SignUpload(id string, expires time.Time) string {
	at := strconv.FormatInt(expires.Unix(), 10)
	return "exp=" + at + "&sig=" + s.mac(addressOfUpload, id, at)
}

// Query signs for the current window, or until the artifact expires if that is sooner.
func (s *Signer) Query(a task.Artifact, now time.Time) string {
	_, expires := s.Window(now)
	if end := a.ExpiresAt.Truncate(time.Second); !end.IsZero() && end.Before(expires) {
		expires = end
	}
	return s.Sign(a.ID, expires)
}

// Verify checks a query that Sign made. Whatever is wrong with it, the answer is the NOT_FOUND of an
// artifact that isn't there. Parameters other than Sign's are not looked at.
func (s *Signer) Verify(id string, query url.Values, now time.Time) error {
	return s.verify(addressOfResult, id, query, now)
}

// VerifyUpload is Verify for a query that SignUpload made.
func (s *Signer) VerifyUpload(id string, query url.Values, now time.Time) error {
	return s.verify(addressOfUpload, id, query, now)
}

// The purposes of addresses: a signature for one is worth nothing for another.
const (
	addressOfResult = "unitask artifact address 1"
	addressOfUpload = "unitask upload address 1"
)

func (s *Signer) verify(purpose, id string, query url.Values, now time.Time) error {
	at, sig := query["exp"], query["sig"]
	if len(at) != 1 || len(sig) != 1 {
		return NotFound()
	}
	if !hmac.Equal([]byte(sig[0]), []byte(s.mac(purpose, id, at[0]))) { // as text: a decoder would skip line breaks
		return NotFound()
	}
	// Signed by us, so it is a number in our own spelling.
	seconds, err := strconv.ParseInt(at[0], 10, 64)
	if err != nil || !now.Before(time.Unix(seconds, 0)) {
		return NotFound()
	}
	return nil
}

// mac returns the signature as it stands in a query. It covers the purpose, so that the secret may sign
// other things too, and the id's length.
func (s *Signer) mac(purpose, id, expires string) string {
	h := hmac.New(sha256.New, s.secret)
	for _, part := range []string{purpose, id, expires} {
		h.Write([]byte(strconv.Itoa(len(part))))
		h.Write([]byte{':'})
		h.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
