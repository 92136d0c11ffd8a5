package api

import "unitask/internal/task"

// The routes of the admin socket: a Unix socket in the data folder, mode 0600. Who may open it is
// the operator; it takes no key.
const (
	AdminSocket      = "admin.sock"
	PathAdminKeys    = "/admin/v1/keys"
	PathAdminSession = "/admin/v1/session-key" // POST: a short-lived test key for the local client
	PathAdminInfo    = "/admin/v1/info"
)

// KeyCreate asks for a new key.
type KeyCreate struct {
	Name             string    `json:"name"`
	Account          string    `json:"account,omitempty"` // by name; made where it doesn't exist; "": the default one
	Mode             task.Mode `json:"mode"`
	Scopes           []string  `json:"scopes,omitempty"`
	ExpiresInSeconds int64     `json:"expires_in_seconds,omitempty"`
	CreatesPerMinute int       `json:"creates_per_minute,omitempty"`
	OpenTasks        int       `json:"open_tasks,omitempty"`
	Budget           string    `json:"budget,omitempty"`        // decimal USD
	BudgetPeriod     string    `json:"budget_period,omitempty"` // "day" or "month"
}

// Key is a key's record as the operator reads it. Secret is set in the one answer that creates it.
type Key struct {
	ID         string     `json:"id"`
	Secret     string     `json:"key,omitempty"`
	Account    string     `json:"account"`
	Name       string     `json:"name"`
	Mode       task.Mode  `json:"mode"`
	Hint       string     `json:"hint"` // the last four characters
	Scopes     []string   `json:"scopes"`
	CreatedAt  Timestamp  `json:"created_at"`
	ExpiresAt  *Timestamp `json:"expires_at"`
	RevokedAt  *Timestamp `json:"revoked_at"`
	LastUsedAt *Timestamp `json:"last_used_at"`
}

// KeyList is every key, oldest first.
type KeyList struct {
	Data      []Key  `json:"data"`
	RequestID string `json:"request_id"`
}

// Info says what a running server is.
type Info struct {
	Version   string `json:"version"`
	BaseURL   string `json:"base_url"`
	PID       int    `json:"pid"`
	RequestID string `json:"request_id"`
}
