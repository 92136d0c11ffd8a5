package api

import (
	"time"

	"unitask/internal/fault"
	"unitask/internal/task"
)

// Account is an account's record as the operator reads it.
type Account struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Capabilities []string `json:"capabilities"` // patterns open on the account; empty: all
	Limits       Limits   `json:"limits"`       // of all its keys together, for each mode
	Members      []Member `json:"members"`
	// KeepInputsDays is for how many days the requests of its new tasks are kept; 0: inputs are erased at the task's end.
	KeepInputsDays int        `json:"keep_inputs_days"`
	State          string     `json:"state"`              // "active", "suspended" or "closed"; "" from a server of an earlier version
	StateAt        *Timestamp `json:"state_at,omitempty"` // since when it is suspended or closed
	CreatedAt      Timestamp  `json:"created_at"`
	RequestID      string     `json:"request_id,omitempty"`
	Spending                  // of its live tasks
}

// Member is a person who may sign in.
type Member struct {
	Name     string    `json:"name"`
	Role     string    `json:"role"` // "member", "admin" or "operator"
	JoinedAt Timestamp `json:"joined_at"`
}

// AccountCreate asks for a new account.
type AccountCreate struct {
	Name         string   `json:"name"`
	Capabilities []string `json:"capabilities,omitzero"` // nil: all
	Limits       Limits   `json:"limits,omitzero"`
}

// AccountUpdate changes the named members.
type AccountUpdate struct {
	Name          *string       `json:"name,omitempty"`
	Capabilities  *[]string     `json:"capabilities,omitempty"` // empty: all
	Limits        *LimitsUpdate `json:"limits,omitempty"`
	RemoveMembers []string      `json:"remove_members,omitempty"` // by name
	// KeepInputsDays is at most 30; fewer days than before hold for all that is kept.
	KeepInputsDays *int `json:"keep_inputs_days,omitempty"`
}

// LimitsUpdate changes the limits that it names; 0, or "" for a budget, takes a limit away.
type LimitsUpdate struct {
	CreatesPerMinute *int    `json:"creates_per_minute,omitempty"`
	ReadsPerMinute   *int    `json:"reads_per_minute,omitempty"`
	OpenTasks        *int    `json:"open_tasks,omitempty"`
	Budget           *string `json:"budget,omitempty"`
	BudgetPeriod     *string `json:"budget_period,omitempty"`
	SupplierSpend    *string `json:"supplier_spend,omitempty"` // "": twice the budget again
}

// AccountClose closes an account.
type AccountClose struct {
	Name string `json:"name"` // the account's, once again
}

// AccountClosed is a closed account, and how much was ended by its closing.
type AccountClosed struct {
	Account   Account `json:"account"`
	Keys      int     `json:"keys_revoked"`
	Sessions  int     `json:"sessions_ended"`
	Tasks     int     `json:"tasks_canceled"`
	RequestID string  `json:"request_id,omitempty"`
}

// AccountList is every account, oldest first.
type AccountList struct {
	Data      []Account `json:"data"`
	RequestID string    `json:"request_id"`
}

// Invite asks for a one-time sign-in link for a member, who joins the account by it.
type Invite struct {
	Member string `json:"member"`
	Role   string `json:"role,omitempty"` // "": member
}

// SignInLink is a link in the one answer that holds it. It opens one session, once.
type SignInLink struct {
	URL       string    `json:"url"` // its token is in the fragment, which no server is sent
	Account   string    `json:"account"`
	Member    string    `json:"member"`
	Role      string    `json:"role"`
	ExpiresAt Timestamp `json:"expires_at"`
	RequestID string    `json:"request_id,omitempty"`
}

// PathSignIn is the console's page that redeems a link.
const PathSignIn = "/console/sign-in"

// The groups that usage can be asked for.
const (
	ByAccount    = "account"
	ByKey        = "key"
	ByCapability = "capability"
	ByDay        = "day"
	BySupplier   = "supplier"
	ByMetadata   = "metadata." // and a name: the pairs of that name
)

// BySession is the group, by key, of usage without a stored key.
const BySession = "session"

// UsageQuery asks for usage by one group. Days are as "2026-11-21", in UTC; "" is 30 days up to today.
type UsageQuery struct {
	By      string // one of the groups, or ByMetadata and a name; "": ByAccount
	Account string // an id or a name; "": all
	Since   string // the first day
	Until   string // the last
}

// UsageReport is the sums of usage, by one group: Data, or Suppliers for BySupplier.
type UsageReport struct {
	By        string          `json:"by"`
	Since     string          `json:"since"` // the first day, in UTC
	Until     string          `json:"until"` // the last
	Data      []UsageRow      `json:"data,omitempty"`
	Suppliers []SupplierUsage `json:"suppliers,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
}

// UsageRow is the ended tasks of a group in one mode.
type UsageRow struct {
	Group     string    `json:"group"`          // an account's id, a key's id, a capability, a day or a text of metadata; "" without it
	Name      string    `json:"name,omitempty"` // of the account or the key
	Mode      task.Mode `json:"mode"`
	Succeeded int64     `json:"succeeded"`
	Failed    int64     `json:"failed"`
	Canceled  int64     `json:"canceled"`
	Work
	Milliseconds int64  `json:"milliseconds,omitempty"` // of video or audio
	Cost         string `json:"cost"`                   // decimal USD, callers' charges
}

// SupplierUsage is the ended attempts at a supplier in one mode.
type SupplierUsage struct {
	Supplier    string    `json:"supplier"`
	Mode        task.Mode `json:"mode"`
	OK          int64     `json:"ok"`
	Failed      int64     `json:"failed"`
	Rejected    int64     `json:"rejected"`
	Unknown     int64     `json:"unknown"`
	Cost        string    `json:"cost"`         // decimal USD, its charges, as far as they are known
	CostUnknown int64     `json:"cost_unknown"` // attempts that it may have charged for
	MeanMillis  int64     `json:"mean_ms"`      // of an attempt that ended well
	Saved       int64     `json:"saved"`        // tasks that failed here and succeeded elsewhere
	SavedCost   string    `json:"saved_cost"`   // decimal USD, their callers' charges
}

// SupplierState is a supplier's current state, and its work of today.
type SupplierState struct {
	SupplierStatus
	InFlight int           `json:"in_flight"` // open attempts over all its routes
	Limit    int           `json:"limit"`     // of these; 0: no limit
	Routes   []RouteState  `json:"routes"`
	Today    SupplierUsage `json:"today"`
	// Paused is an operator's pause: no work is sent there until it is resumed. Absent without one.
	Paused *SupplierPause `json:"paused,omitempty"`
	// Test is the last test from this node since its start. Absent without one.
	Test *SupplierTest `json:"last_test,omitempty"`
}

// SupplierPause says since when a supplier is paused, and who paused it.
type SupplierPause struct {
	Since Timestamp `json:"since"`
	By    string    `json:"by,omitempty"`
}

// SupplierTest is the result of asking a supplier, from one node, whether it answers. It doesn't tell how the supplier works.
type SupplierTest struct {
	Supplier  string    `json:"supplier"`
	Result    string    `json:"result"`     // one of those below
	About     string    `json:"about"`      // the same in words
	Millis    int64     `json:"latency_ms"` // until the answer, or its absence was known
	At        Timestamp `json:"at"`
	RequestID string    `json:"request_id,omitempty"`
}

// The results of a test.
const (
	TestOK          = "ok"          // it answered a free request that has the key
	TestReachable   = "reachable"   // it answers to a request without a key: it has no key, or no free request that needs one
	TestRefused     = "refused"     // it refuses the key or the balance
	TestFailing     = "failing"     // it answered with another error
	TestUnreachable = "unreachable" // no answer came
	TestUnsent      = "unsent"      // no request could be sent, as without a readable key
)

// Passed reports whether work may be sent there, as far as the test can tell.
func (t SupplierTest) Passed() bool { return t.Result == TestOK || t.Result == TestReachable }

// SupplierChange is a supplier after an operator paused, resumed or reset it.
type SupplierChange struct {
	SupplierState
	RequestID string `json:"request_id"`
}

// Refuses is why the supplier refuses the service's own key, balance or permission on one of its approved routes at
// least; "" if it doesn't.
func (s SupplierState) Refuses() string {
	for _, r := range s.Routes {
		if r.Approved && r.NeedsOperator {
			return r.Reason
		}
	}
	return ""
}

// Sandbox reports whether the supplier serves test keys: its work costs no money, whatever its prices are.
func (s SupplierState) Sandbox() bool {
	for _, r := range s.Routes {
		if r.Mode != task.Test {
			return false
		}
	}
	return len(s.Routes) > 0 || s.Name == SandboxName
}

// SandboxName is the name under which the sandbox's suppliers are told of together.
const SandboxName = "sandbox"

// RouteState is a route as it stands now.
type RouteState struct {
	Capability string     `json:"capability"`
	Model      string     `json:"model"`
	Mode       task.Mode  `json:"mode"`
	Approved   bool       `json:"approved"`
	State      string     `json:"state"` // "open", "paused" or "probing"
	Reason     string     `json:"reason,omitempty"`
	Failures   int        `json:"failures"` // in a row
	Until      *Timestamp `json:"until"`    // of the pause
	// NeedsOperator says that the supplier refused the service's own key, balance or permission at this node, and gave no
	// result since.
	NeedsOperator bool `json:"needs_operator,omitempty"`
}

// The states of routes.
const (
	RouteOpen    = "open"
	RoutePaused  = "paused"  // left alone after failures, or because the supplier asked for it
	RouteProbing = "probing" // the pause is over, and one request at a time tries it
)

// SupplierList is every supplier, in the order of the settings.
type SupplierList struct {
	Data      []SupplierState `json:"data"`
	RequestID string          `json:"request_id"`
}

// RequestRecord is the request log's record of an answered request: never a key, never an input.
type RequestRecord struct {
	ID         string     `json:"id"`
	At         Timestamp  `json:"at"`
	Client     string     `json:"client,omitempty"` // the caller's address
	KeyID      string     `json:"key_id,omitempty"`
	Account    string     `json:"account,omitempty"` // its id
	TaskID     string     `json:"task_id,omitempty"`
	Method     string     `json:"method"`
	Route      string     `json:"route"`
	Status     int        `json:"status"`
	Code       fault.Code `json:"code,omitempty"`
	DurationMS float64    `json:"duration_ms"`
}

// Milliseconds is a duration as answers have it, to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// RequestList is the requests that belong to an id, oldest first.
type RequestList struct {
	Data       []RequestRecord `json:"data"`
	Incomplete []string        `json:"incomplete,omitempty"` // nodes whose part of the answer is missing or cut
	RequestID  string          `json:"request_id,omitempty"`
}
