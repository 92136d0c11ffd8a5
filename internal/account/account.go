// Package account holds who may call: accounts, their API keys, scopes and limits.
//
// The package is pure. A key's secret exists only in the answer that creates it; everything here
// works on its SHA-256. Scopes are patterns over capability names: "image.generate", "image.*", "*".
package account

import (
	"strings"
	"time"

	"unitask/internal/task"
)

// Account is a tenant: what it owns is invisible to every other account.
type Account struct {
	ID           string    `json:"id"` // acct_…
	Name         string    `json:"name"`
	Capabilities []string  `json:"capabilities,omitempty"` // open on the account; empty: all
	CreatedAt    time.Time `json:"created_at"`
}

// Key is an API key's record; the secret itself is not in it.
type Key struct {
	ID         string     `json:"id"` // key_…
	Account    string     `json:"account"`
	Name       string     `json:"name"`
	Mode       task.Mode  `json:"mode"`
	Hash       task.Hash  `json:"hash"`             // SHA-256 of the full key
	Hint       string     `json:"hint"`             // the last four characters, for people
	Scopes     []string   `json:"scopes,omitempty"` // capability patterns; empty: all open on the account
	Limits     Limits     `json:"limits"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
}

// Limits are a key's own; 0 means the server's default, a negative number none.
type Limits struct {
	CreatesPerMinute int        `json:"creates_per_minute,omitempty"` // creations and lists
	ReadsPerMinute   int        `json:"reads_per_minute,omitempty"`   // task reads
	OpenTasks        int        `json:"open_tasks,omitempty"`
	Budget           task.Money `json:"budget,omitempty"` // nano-USD a period; 0: none
	BudgetPeriod     Period     `json:"budget_period,omitempty"`
}

// Period is a budget's period, in UTC.
type Period string

// The periods.
const (
	Day   Period = "day"
	Month Period = "month"
)

// Stamp names the period that holds the given time: "2026-11-21" or "2026-11".
func (p Period) Stamp(at time.Time) string {
	if p == Month {
		return at.UTC().Format("2006-01")
	}
	return at.UTC().Format("2006-01-02")
}

// Left returns how long the period that holds the given time still lasts.
func (p Period) Left(at time.Time) time.Duration {
	year, month, day := at.UTC().Date()
	if p == Month {
		return time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC).Sub(at)
	}
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC).Sub(at)
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

// ValidPattern reports whether p is "*", a dotted name, or a dotted name ending in ".*".
func ValidPattern(p string) bool {
	if p == "*" {
		return true
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(p, ".*"), ".") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return false
		}
	}
	return true
}
