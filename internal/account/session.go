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
	SessionLife = 90 * 24 * time.Hour // however often it is used
	SessionIdle = 30 * 24 * time.Hour // without a request; each use prolongs it
	SessionNew  = 12 * time.Hour      // for acts that ask for a sign-in not long ago
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
	Agent     string    `json:"agent,omitempty"`     // the browser in a few words, such as "Firefox on Linux"
	InvitedAt time.Time `json:"invited_at,omitzero"` // its link's creation; zero in records of earlier versions
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

const (
	tokenBytes    = 32
	prefixSession = "ses_"
)

// NewToken returns the secret of a link or a session: 43 characters, 256 random bits, safe in an
// address and in a cookie.
func NewToken() string {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails, by its documentation
	return base64.RawURLEncoding.EncodeToString(raw)
}

// NewLink returns a link for a member of an account and its token. Its creation isn't before the member's joining,
// whose time may be of another clock.
func NewLink(account string, m Member, now time.Time) (Link, string) {
	token := NewToken()
	l := Link{
		Hash: HashSecret(token), Account: account, Member: m.Name, Role: m.Role, CreatedAt: now, ExpiresAt: now.Add(LinkLife),
	}
	if since := m.since(); now.Before(since) {
		l.CreatedAt = since
	}
	return l, token
}

// Open returns the session that a link opens for a browser and its token; false if the link has expired.
func (l Link) Open(agent string, now time.Time) (Session, string, bool) {
	if !now.Before(l.ExpiresAt) {
		return Session{}, "", false
	}
	token := NewToken()
	return Session{
		Hash: HashSecret(token), Account: l.Account, Member: l.Member, Role: l.Role, Agent: agent,
		InvitedAt: l.CreatedAt, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(SessionLife),
	}, token, true
}

// ID names the session in a page or a command. The token can't be found from it, nor the hash.
func (s Session) ID() string { return task.DeriveID(prefixSession, s.Account, s.Hash.String()) }

// Usable reports whether the session is that of a member of the account as it is now: one who was removed, or got
// another role, has to sign in by a link that was made since.
func (s Session) Usable(a Account, now time.Time) bool {
	m, ok := a.Member(s.Member)
	invited := s.InvitedAt
	if invited.IsZero() {
		invited = s.CreatedAt
	}
	return ok && a.ID == s.Account && a.ClosedAt == nil && m.Role == s.Role && !invited.Before(m.since()) &&
		now.Before(s.ExpiresAt) && now.Sub(s.SeenAt) < SessionIdle
}

// New reports whether somebody signed in not long ago.
func (s Session) New(now time.Time) bool { return now.Sub(s.CreatedAt) < SessionNew }
