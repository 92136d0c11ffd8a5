package account

import (
	"crypto/rand"
	"encoding/base64"
	"time"

	"unitask/internal/task"
)

// How long a link can be redeemed and a session lasts, at most and without being used.
const (
	LinkLife    = 10 * time.Minute
	SessionLife = 12 * time.Hour
	SessionIdle = 2 * time.Hour // without a request
)

// Link is a one-time link by which a person signs in. Its token is known by its hash.
type Link struct {
	Hash      task.Hash `json:"hash"`
	Account   string    `json:"account"`
	Member    string    `json:"member"`
	Role      Role      `json:"role"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Session is a person who signed in. Its token, a cookie's value, is known by its hash; it is never
// that of the link.
type Session struct {
	Hash      task.Hash `json:"hash"`
	Account   string    `json:"account"`
	Member    string    `json:"member"`
	Role      Role      `json:"role"`
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

const tokenBytes = 32

// NewToken returns the secret of a link or a session: 43 characters, 256 random bits, safe in an
// address and in a cookie.
func NewToken() string {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails, by its documentation
	return base64.RawURLEncoding.EncodeToString(raw)
}

// NewLink returns a link for a member of an account and its token.
func NewLink(account, member string, role Role, now time.Time) (Link, string) {
	token := NewToken()
	return Link{
		Hash: HashSecret(token), Account: account, Member: member, Role: role,
		CreatedAt: now, ExpiresAt: now.Add(LinkLife),
	}, token
}

// Open returns the session that a link opens and its token; false if the link has expired.
func (l Link) Open(now time.Time) (Session, string, bool) {
	if !now.Before(l.ExpiresAt) {
		return Session{}, "", false
	}
	token := NewToken()
	return Session{
		Hash: HashSecret(token), Account: l.Account, Member: l.Member, Role: l.Role,
		CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(SessionLife),
	}, token, true
}

// Usable reports whether the session is that of a member of the account as it is now: one who was
// removed, or has another role since, has to sign in anew.
func (s Session) Usable(a Account, now time.Time) bool {
	m, ok := a.Member(s.Member)
	return ok && a.ID == s.Account && m.Role == s.Role && now.Before(s.ExpiresAt) && now.Sub(s.SeenAt) < SessionIdle
}
