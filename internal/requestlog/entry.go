package requestlog

import (
	"encoding/json"
	"errors"
	"time"

	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
)

// Entry is an answered request. It contains no text of callers.
type Entry struct {
	ID      string // req_…
	At      time.Time
	Client  string // the caller's address; "" if unknown
	KeyID   string // "" for a request without a valid key
	Account string // its id
	TaskID  string // "" if it concerned no task
	Method  string
	Route   string // the pattern that took it
	Status  int
	Code    fault.Code
	Took    time.Duration
}

// line is an Entry as it is written: one line of JSON.
type line struct {
	ID      string     `json:"id"`
	At      time.Time  `json:"at"`
	Client  string     `json:"client,omitempty"`
	KeyID   string     `json:"key,omitempty"`
	Account string     `json:"account,omitempty"`
	TaskID  string     `json:"task,omitempty"`
	Method  string     `json:"method"`
	Route   string     `json:"route"`
	Status  int        `json:"status"`
	Code    fault.Code `json:"code,omitempty"`
	Micros  int64      `json:"us"`
}

// appendEntry appends the entry's line to b.
func appendEntry(b []byte, e Entry) []byte {
	w := jsonwrite.Append(b)
	member := func(name, value string) {
		if value != "" {
			w.Name(name)
			w.String(value)
		}
	}
	w.Begin('{')
	member("id", e.ID)
	w.Name("at")
	w.Millis(e.At)
	member("client", e.Client)
	member("key", e.KeyID)
	member("account", e.Account)
	member("task", e.TaskID)
	member("method", e.Method)
	member("route", e.Route)
	w.Name("status")
	w.Int(int64(e.Status))
	member("code", string(e.Code))
	w.Name("us")
	w.Int(e.Took.Microseconds())
	w.End('}')
	w.Raw('\n')
	out, _ := w.Bytes() // strings and numbers always have a form
	return out
}

// MarshalJSON implements json.Marshaler: an entry is its line in the log.
func (e Entry) MarshalJSON() ([]byte, error) { return appendEntry(nil, e), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (e *Entry) UnmarshalJSON(raw []byte) (err error) {
	*e, err = parseEntry(raw)
	return err
}

var errLine = errors.New("requestlog: not a line of the log")

// parseEntry reads a line without its end.
func parseEntry(raw []byte) (Entry, error) {
	var l line
	err := json.Unmarshal(raw, &l)
	took := time.Duration(l.Micros) * time.Microsecond
	if err != nil || l.ID == "" || took.Microseconds() != l.Micros { // longer than a Duration can't be ours
		return Entry{}, errLine
	}
	return Entry{
		ID: l.ID, At: l.At, Client: l.Client, KeyID: l.KeyID, Account: l.Account, TaskID: l.TaskID, Method: l.Method, Route: l.Route,
		Status: l.Status, Code: l.Code, Took: took,
	}, nil
}
