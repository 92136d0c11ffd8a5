// Package account holds who may call: accounts with their members, API keys, scopes, limits, and the
// sessions of people who sign in.
//
// The package is pure. A key's secret exists only in the answer that creates it, and so does a
// token of a link or a session; everything here works on their SHA-256. Scopes are patterns over
// capability names: "image.generate", "image.*", "*".
package account

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"unitask/internal/task"
)

// Account is a tenant: its objects are invisible to every other account.
type Account struct {
	ID           string   `json:"id"` // acct_…
	Name         string   `json:"name"`
	Capabilities []string `json:"capabilities,omitempty"` // open on the account; empty: all
	Limits       Limits   `json:"limits,omitzero"`        // of all its keys together, for each mode; 0: no limit
	Members      []Member `json:"members,omitempty"`      // who may sign in, by the order of their joining
	// KeepInputs is for how many days a new task's request is kept from its creation on; 0: its input is erased at its end.
	KeepInputs int       `json:"keep_inputs_days,omitempty"`
	Forgets    *Forget   `json:"forgets,omitempty"` // the erasure that a lower KeepInputs began, if it goes on
	CreatedAt  time.Time `json:"created_at"`

	SuspendedAt *time.Time `json:"suspended_at,omitempty"`
	ClosedAt    *time.Time `json:"closed_at,omitempty"` // it counts more than a suspension
}

// State says what an account opens.
type State string

// The states. An operator moves an account from each to any other.
const (
	Active    State = "active"
	Suspended State = "suspended" // no key opens anything, no task is accepted; tasks that were are done, members sign in
	Closed    State = "closed"    // it has no keys and no sessions any more, and gets none
)

// State returns the account's state, and since when unless it is Active.
func (a Account) State() (State, *time.Time) {
	switch {
	case a.ClosedAt != nil:
		return Closed, a.ClosedAt
	case a.SuspendedAt != nil:
		return Suspended, a.SuspendedAt
	default:
		return Active, nil
	}
}

// Member is a person of an account, known by the name.
type Member struct {
	Name     string    `json:"name"`
	Role     Role      `json:"role"`
	JoinedAt time.Time `json:"joined_at"`
	RoleAt   time.Time `json:"role_at,omitzero"` // of the last change of the role, or closing of the account
}

// since returns the time before which no link and no session of the member counts.
func (m Member) since() time.Time {
	if m.RoleAt.After(m.JoinedAt) {
		return m.RoleAt
	}
	return m.JoinedAt
}

// Role is the rights of a person who signed in.
type Role string

// The roles.
const (
	RoleMember   Role = "member"   // the account's own tasks, keys and usage
	RoleAdmin    Role = "admin"    // and its members
	RoleOperator Role = "operator" // all accounts, without their inputs and outputs
)

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return r == RoleMember || r == RoleAdmin || r == RoleOperator }

// Member returns the member of the given name; false without one.
func (a Account) Member(name string) (Member, bool) {
	i := slices.IndexFunc(a.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return Member{}, false
	}
	return a.Members[i], true
}

// HasAdmin reports whether one of the members is an admin.
func (a Account) HasAdmin() bool {
	return slices.ContainsFunc(a.Members, func(m Member) bool { return m.Role == RoleAdmin })
}

// WithMember returns the account with the member added, or in the place of the one of the same name, who keeps the time
// of joining: the new one is that of a change of the role.
func (a Account) WithMember(m Member) Account {
	a.Members = slices.Clone(a.Members)
	if i := slices.IndexFunc(a.Members, func(old Member) bool { return old.Name == m.Name }); i >= 0 {
		old := a.Members[i]
		if m.RoleAt = m.JoinedAt; m.Role == old.Role {
			m.RoleAt = old.RoleAt
		}
		m.JoinedAt = old.JoinedAt
		a.Members[i] = m
		return a
	}
	a.Members = append(a.Members, m)
	return a
}

// closeSkew is how much the clocks of nodes that make links may differ.
const closeSkew = time.Minute

// Closing returns the account that is closed from now on, unless it is already. All links and sessions of its members
// end, whatever node made them, and don't come back once it is resumed.
func (a Account) Closing(now time.Time) Account {
	a.Members = slices.Clone(a.Members)
	for i, m := range a.Members {
		if since := now.Add(closeSkew); since.After(m.since()) {
			a.Members[i].RoleAt = since
		}
	}
	if a.SuspendedAt = nil; a.ClosedAt == nil {
		a.ClosedAt = &now
	}
	return a
}

// WithoutMember returns the account without the member of the given name.
func (a Account) WithoutMember(name string) Account {
	a.Members = slices.DeleteFunc(slices.Clone(a.Members), func(m Member) bool { return m.Name == name })
	return a
}

// Key is an API key's record; the secret itself is not in it.
type Key struct {
	ID         string     `json:"id"` // key_…
	Account    string     `json:"account"`
	Follows    string     `json:"follows,omitempty"` // the first of the keys that it replaced one after another
	Name       string     `json:"name"`
	Mode       task.Mode  `json:"mode"`             // of its tasks, or Operator
	Hash       task.Hash  `json:"hash"`             // SHA-256 of the full key
	Hint       string     `json:"hint"`             // the last four characters, for people
	Scopes     []string   `json:"scopes,omitempty"` // capability patterns; empty: all open on the account
	Limits     Limits     `json:"limits"`
	OwnLimits  bool       `json:"own_limits,omitempty"` // members set all of them: members may loosen them
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
}

// Counter names the counters of the key's limits: a key and those that replaced it share it, so that a rotation
// grants no new requests.
func (k Key) Counter() string { return cmp.Or(k.Follows, k.ID) }

// Rotated returns the key that replaces k from now on: another id and secret, all else the same.
func (k Key) Rotated(id string, hash task.Hash, hint string, now time.Time) Key {
	next := k
	next.ID, next.Follows, next.Hash, next.Hint, next.CreatedAt = id, k.Counter(), hash, hint, now
	next.LastUsedAt = nil
	return next
}

// Usable reports whether the key opens anything at the given time.
func (k Key) Usable(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Allows reports whether one of the patterns matches the capability; no patterns allow everything.
func Allows(patterns []string, capability string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, p := range patterns {
		if p == "*" || p == capability {
			return true
		}
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasSuffix(prefix, ".") && strings.HasPrefix(capability, prefix) {
			return true
		}
	}
	return false
}

// maxPattern bounds a pattern, in bytes: no capability has a longer name.
const maxPattern = 100

// ValidPattern reports whether p is "*", a dotted name, or a dotted name ending in ".*", of 100 bytes at most.
func ValidPattern(p string) bool {
	if p == "*" {
		return true
	}
	if len(p) > maxPattern {
		return false
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(p, ".*"), ".") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return false
		}
	}
	return true
}
