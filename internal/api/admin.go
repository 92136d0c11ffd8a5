package api

import (
	"encoding/json"
	"time"

	"unitask/internal/fault"
	"unitask/internal/task"
)

// The routes of the admin socket: a Unix socket in the data folder, mode 0600. Who may open it is
// the operator; it takes no key. Some are on the API's listener too, for operator keys.
const (
	AdminSocket        = "admin.sock"
	PathMetrics        = "/metrics" // never on the API's listener
	PathAdminKeys      = "/admin/v1/keys"
	PathAdminAccounts  = "/admin/v1/accounts"
	PathAdminUsage     = "/admin/v1/usage" // GET: ?by= &account= &since= &until=, days as 2026-11-21
	PathAdminSuppliers = "/admin/v1/suppliers"
	PathAdminRequests  = "/admin/v1/requests"    // GET: ?id= of a request or a task
	PathAdminSession   = "/admin/v1/session-key" // POST: a short-lived test key for the local client
	PathAdminInfo      = "/admin/v1/info"
	PathAdminTasks     = "/admin/v1/tasks"
	PathAdminBackup    = "/admin/v1/backup"   // POST: a tar of the data folder
	PathAdminReload    = "/admin/v1/reload"   // POST: reads the settings again
	PathAdminLog       = "/admin/v1/log"      // GET: ?cursor=, the requests and ends of tasks since then
	PathAdminArrivals  = "/admin/v1/arrivals" // GET: when the live tasks came, as JSON lines
)

// KeyCreate asks for a new key.
type KeyCreate struct {
	Name             string    `json:"name"`
	Account          string    `json:"account,omitempty"` // by name; made if it is missing; "": the default one
	Mode             task.Mode `json:"mode"`
	Scopes           []string  `json:"scopes,omitzero"` // nil: everything; an empty list is refused
	ExpiresInSeconds int64     `json:"expires_in_seconds,omitempty"`
	Limits
}

// KeyUpdate changes a key that is open. Absent members stay.
type KeyUpdate struct {
	Name   *string       `json:"name,omitempty"`
	Scopes *[]string     `json:"scopes,omitempty"` // ["*"]: everything; an empty list is refused
	Limits *LimitsUpdate `json:"limits,omitempty"`
	// ExpiresInSeconds is the rest of the key's life from now; 0: it never expires.
	ExpiresInSeconds *int64 `json:"expires_in_seconds,omitempty"`
}

// KeyRotate asks for a key in the place of another, which goes on to work for a while.
type KeyRotate struct {
	OverlapSeconds int64 `json:"overlap_seconds,omitempty"` // 0: it is closed at once
}

// Key is a key's record as the operator reads it. Secret is set in the one answer that creates it.
type Key struct {
	ID         string     `json:"id"`
	Secret     string     `json:"key,omitempty"`
	Account    string     `json:"account"` // the name; "" of an operator key
	Name       string     `json:"name"`
	Mode       task.Mode  `json:"mode"`
	Hint       string     `json:"hint"` // the last four characters
	Scopes     []string   `json:"scopes"`
	CreatedAt  Timestamp  `json:"created_at"`
	ExpiresAt  *Timestamp `json:"expires_at"`
	RevokedAt  *Timestamp `json:"revoked_at"`
	LastUsedAt *Timestamp `json:"last_used_at"`
	RequestID  string     `json:"request_id,omitempty"`
	Limits
	Spending
}

// Spending is how a budget stands in its period under way; both members are absent without a budget.
type Spending struct {
	// Spent is what counts against the budget, in decimal USD: the charges for ended tasks, and the reserved amounts of
	// those that haven't ended. A budget that was given later counts the tasks from then on.
	Spent        string     `json:"spent,omitempty"`
	BudgetEndsAt *Timestamp `json:"budget_ends_at,omitempty"` // when the budget starts anew
}

// Limits are a key's or an account's own; an absent member is no limit of its own. The limits of its account and of
// the server bind a key whatever it has.
type Limits struct {
	CreatesPerMinute int    `json:"creates_per_minute,omitempty"` // creations and lists
	ReadsPerMinute   int    `json:"reads_per_minute,omitempty"`   // task reads
	OpenTasks        int    `json:"open_tasks,omitempty"`
	Budget           string `json:"budget,omitempty"`        // decimal USD
	BudgetPeriod     string `json:"budget_period,omitempty"` // "day" or "month"
	// SupplierSpend bounds suppliers' charges for an account's live tasks a period: decimal USD, or "none"; absent:
	// twice the budget. Keys don't have it.
	SupplierSpend string `json:"supplier_spend,omitempty"`
}

// KeyList is every key, oldest first.
type KeyList struct {
	Data      []Key  `json:"data"`
	RequestID string `json:"request_id"`
}

// Info describes a running server.
type Info struct {
	Version   string           `json:"version"`
	BaseURL   string           `json:"base_url"`
	PID       int              `json:"pid"`
	Suppliers []SupplierStatus `json:"suppliers,omitempty"`
	// Quarantined counts rows of the database that couldn't be read and were set aside.
	Quarantined int64  `json:"quarantined_rows,omitempty"`
	RequestID   string `json:"request_id"`
}

// Reload is the changes of a reload, by the names of the settings.
type Reload struct {
	Changed   []string `json:"changed"` // and hold from now on
	Restart   []string `json:"restart"` // differ from the settings in effect, and need a restart
	RequestID string   `json:"request_id"`
}

// SupplierStatus says whether a supplier was found at the start, and its capabilities or the reason why it wasn't.
type SupplierStatus struct {
	Name  string `json:"name"`
	Live  bool   `json:"live"`
	About string `json:"about"`
}

// AdminTask is a task as the operator reads it: its history, its cost and its caller's declaration about a person,
// never its input or output.
type AdminTask struct {
	ID            string              `json:"id"`
	Account       string              `json:"account"` // the name
	Mode          task.Mode           `json:"mode"`
	KeyID         string              `json:"key_id"`
	Capability    string              `json:"capability"`
	State         task.State          `json:"state"`
	Revision      int64               `json:"revision"`
	Reopenings    int                 `json:"reopenings"`
	Takeovers     int                 `json:"takeovers"` // in a row, by workers that found it in the middle of a step
	CreatedAt     Timestamp           `json:"created_at"`
	DeadlineAt    Timestamp           `json:"deadline_at"`
	FinishedAt    *Timestamp          `json:"finished_at"`
	Timeline      []Move              `json:"timeline"`
	Code          fault.Code          `json:"code,omitempty"` // of a failed task
	Reserved      string              `json:"reserved"`       // decimal USD
	Cost          string              `json:"cost"`           // decimal USD, the caller's charge
	Authorization *task.Authorization `json:"authorization,omitempty"`
	Traceparent   string              `json:"traceparent,omitempty"` // of its caller's request, the last that was accepted
	Attempts      []AdminAttempt      `json:"attempts"`
	RequestID     string              `json:"request_id"`
}

// AdminAttempt is one row of a task's ledger.
type AdminAttempt struct {
	N           int               `json:"n"`
	Moderation  bool              `json:"moderation,omitempty"` // a question about the content, before its work
	Supplier    string            `json:"supplier"`
	Model       string            `json:"model"`
	State       task.AttemptState `json:"state"`
	Reason      string            `json:"reason,omitempty"`
	Passed      []task.Passed     `json:"passed,omitempty"`
	Code        fault.Code        `json:"code,omitempty"`
	Estimate    string            `json:"estimate"` // decimal USD, the most that the supplier may charge
	Cost        string            `json:"cost"`     // decimal USD, the supplier's charge
	CostUnknown bool              `json:"cost_unknown,omitempty"`
	StartedAt   Timestamp         `json:"started_at"`
	SubmittedAt *Timestamp        `json:"submitted_at"`
	ClosedAt    *Timestamp        `json:"closed_at"`
}

// AdminTaskOf returns t as the operator may read it.
func AdminTaskOf(t task.Task, account string) AdminTask {
	out := AdminTask{
		ID: t.ID, Account: account, Mode: t.Scope.Mode, KeyID: t.KeyID, Capability: t.Capability, State: t.State,
		Revision: t.Revision, Reopenings: t.Reopenings, Takeovers: t.Takeovers, CreatedAt: Timestamp{t.CreatedAt}, DeadlineAt: Timestamp{t.DeadlineAt},
		FinishedAt: TimestampOf(t.FinishedAt), Timeline: TimelineOf(t).Data,
		Reserved: t.Reserved.String(), Cost: t.Cost.String(), Authorization: t.Authorization, Traceparent: t.Traceparent,
		Attempts: make([]AdminAttempt, 0, len(t.Attempts)),
	}
	if t.Failure != nil {
		out.Code = t.Failure.Code
	}
	for _, a := range t.Attempts {
		out.Attempts = append(out.Attempts, AdminAttempt{
			N: a.N, Moderation: a.Moderation, Supplier: a.Supplier, Model: a.Model, State: a.State, Reason: a.Reason, Passed: a.Passed,
			Code: a.Code, Estimate: a.Estimate.String(), Cost: a.Cost.String(), CostUnknown: a.CostUnknown, StartedAt: Timestamp{a.StartedAt},
			SubmittedAt: TimestampOf(a.SubmittedAt), ClosedAt: TimestampOf(a.ClosedAt),
		})
	}
	return out
}

// Arrival is when one task came and how much work it was, as unitask simulate reads it: never its input,
// its output or whose it is.
type Arrival struct {
	ID         string    `json:"id"`
	At         Timestamp `json:"at"`
	Capability string    `json:"capability"`
	Work
	Seconds json.Number `json:"seconds,omitempty"`
}

// ArrivalOf returns when t came; without sizes if it wasn't measured.
func ArrivalOf(t task.Task) Arrival {
	a := Arrival{ID: t.ID, At: Timestamp{t.CreatedAt}, Capability: t.Capability}
	if t.Usage != nil {
		u := fromUsage(*t.Usage, 0)
		a.Work, a.Seconds = u.Work, u.Seconds
	}
	return a
}

// TimestampOf returns a time that may be absent.
func TimestampOf(t *time.Time) *Timestamp {
	if t == nil {
		return nil
	}
	return &Timestamp{*t}
}
