package api

// Session is a person's being signed in to the console, in one browser.
type Session struct {
	ID        string    `json:"id"` // opens nothing
	Member    string    `json:"member"`
	Role      string    `json:"role"`
	Agent     string    `json:"agent,omitempty"` // the browser, such as "Firefox on Linux"; "": unknown
	CreatedAt Timestamp `json:"created_at"`
	SeenAt    Timestamp `json:"seen_at"` // of the last use, noted every few hours
	EndsAt    Timestamp `json:"ends_at"` // unless it is used before then, and at most 90 days after its creation
}

// SessionList is an account's sessions, the last used first; as the answer to SessionsEnd those that were ended.
type SessionList struct {
	Data      []Session `json:"data"`
	RequestID string    `json:"request_id"`
}

// SessionsEnd ends the session of an id, those of a member, or all of an account: one of the three.
type SessionsEnd struct {
	ID     string `json:"id,omitempty"`
	Member string `json:"member,omitempty"`
	All    bool   `json:"all,omitempty"`
}
