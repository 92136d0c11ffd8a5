package console

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// taskQuery selects the tasks of a list.
type taskQuery struct {
	Account      string // its name, or everyAccount
	every        bool   // the tasks of all accounts: an operator asks for them
	Mode         task.Mode
	State        task.State
	Capability   string
	Key          string // its id
	Code         fault.Code
	Since, Until string // days of the zone, both included; "" for no bound
	Zone         *time.Location
	Metadata     task.Metadata // all of these pairs; of the visitor's own account
	Words        string        // all of these, in a kept request of the visitor's own account
	Per          int           // tasks of a page
	Cursor       string        // the task after which to go on
	Newer        bool          // the tasks before the cursor
}

// Everywhere reports whether the list has the tasks of all accounts.
func (q taskQuery) Everywhere() bool { return q.every }

// Filtered reports whether the list leaves tasks out that it has to look at.
func (q taskQuery) Filtered() bool {
	return q.State != "" || q.Capability != "" || q.Key != "" || q.Code != "" || len(q.Metadata) > 0 || q.Words != ""
}

// Narrowed reports whether any filter of the form's further part is set.
func (q taskQuery) Narrowed() bool {
	return q.Key != "" || q.Code != "" || len(q.Metadata) > 0
}

// Chosen reports whether any filter of the form is set.
func (q taskQuery) Chosen() bool { return q.Filtered() || q.Since != "" || q.Until != "" }

// Cleared returns the query of the list without the form's filters.
func (q taskQuery) Cleared() string {
	return taskQuery{Account: q.Account, Mode: q.Mode, Per: q.Per}.Address("", "")
}

// Pairs returns the metadata that is asked for as it is typed, in order.
func (q taskQuery) Pairs() (pairs []string) {
	for _, name := range slices.Sorted(maps.Keys(q.Metadata)) {
		pairs = append(pairs, name+"="+q.Metadata[name])
	}
	return pairs
}

// Address returns the query of the list with one member changed, from its beginning but for a cursor.
func (q taskQuery) Address(name, value string) string {
	v := url.Values{}
	per := ""
	if q.Per != smallPage && q.Per != 0 {
		per = strconv.Itoa(q.Per)
	}
	for n, old := range map[string]string{
		"account": q.Account, "mode": string(q.Mode), "state": string(q.State), "capability": q.Capability, "key": q.Key,
		"code": string(q.Code), "since": q.Since, "until": q.Until, "words": q.Words, "per": per,
	} {
		if n == name {
			old = value
		}
		if old != "" {
			v.Set(n, old)
		}
	}
	for n, text := range q.Metadata {
		v.Set(metadataParameter+n, text)
	}
	if slices.Contains([]string{"cursor", "newer", "format"}, name) {
		v.Set(name, value)
	}
	return "?" + v.Encode()
}

// times returns the bounds of the days, in the query's zone.
func (q taskQuery) times() (since, until time.Time) {
	if day, err := dayStart(q.Since, q.Zone); err == nil {
		since = day
	}
	if day, err := dayEnd(q.Until, q.Zone); err == nil {
		until = day
	}
	return since, until
}

// modes returns the modes that are asked for.
func (q taskQuery) modes() []task.Mode {
	if q.Mode == "" {
		return []task.Mode{task.Live, task.Test}
	}
	return []task.Mode{q.Mode}
}

// metadataParameter begins the name of a parameter whose rest is a name of metadata, as in the API.
const metadataParameter = "metadata."

// taskParameters are those of the list; format is the export's.
var taskParameters = []string{
	"account", "mode", "state", "capability", "key", "code", "since", "until", "metadata", "words", "per", "cursor", "newer", "format",
}

func parseTaskQuery(v url.Values) (taskQuery, error) {
	q := taskQuery{
		Account: v.Get("account"), Mode: task.Mode(v.Get("mode")), State: task.State(v.Get("state")),
		Capability: strings.TrimSpace(v.Get("capability")), Key: strings.TrimSpace(v.Get("key")), Code: fault.Code(v.Get("code")),
		Since: v.Get("since"), Until: v.Get("until"), Words: strings.TrimSpace(v.Get("words")), Cursor: v.Get("cursor"),
	}
	if newer := v.Get("newer"); newer != "" {
		q.Cursor, q.Newer = newer, true
	}
	switch {
	case q.Mode != "" && q.Mode != task.Live && q.Mode != task.Test:
		return q, fault.Invalid("mode", "must be live or test")
	case q.State != "" && !q.State.Valid():
		return q, fault.Invalid("state", "is not a state of tasks")
	case q.Key != "" && !task.ValidID(task.PrefixKey, q.Key):
		return q, fault.Invalid("key", "is not the id of a key")
	case q.Code != "" && !q.Code.Valid():
		return q, fault.Invalid("code", "is not an error code")
	case q.Cursor != "" && !task.ValidID(task.PrefixTask, q.Cursor):
		return q, fault.Invalid("cursor", "is not one that a list returned")
	}
	var err error
	if q.Per, err = perPage(v.Get("per")); err != nil {
		return q, err
	}
	for name, day := range map[string]string{"since": q.Since, "until": q.Until} {
		if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
			return q, fault.Invalid(name, "must be a day such as 2026-11-21")
		}
	}
	return q, q.takeMetadata(v)
}

// takeMetadata sets the pairs that are asked for: metadata.team=search in an address, metadata=team=search of the form.
// A parameter that is no filter is refused, for the list would show more than was asked for.
func (q *taskQuery) takeMetadata(v url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		member, isPair := strings.CutPrefix(name, metadataParameter)
		switch {
		case !isPair && !slices.Contains(taskParameters, name):
			return fault.Invalid(name, "is not a filter of tasks")
		case !isPair:
			continue
		}
		for _, text := range v[name] {
			if err := q.addPair(member, text); err != nil {
				return err
			}
		}
	}
	for _, typed := range v["metadata"] {
		name, text, ok := strings.Cut(strings.TrimSpace(typed), "=")
		switch {
		case !ok && name == "":
			continue
		case !ok:
			return fault.Invalid("metadata", "must be name=value")
		}
		if err := q.addPair(name, text); err != nil {
			return err
		}
	}
	if rows := catalog.MetadataRows(q.Metadata); len(rows) > 0 {
		return fault.Invalid(rows[0].Field, rows[0].Message).WithDetails(rows[1:]...)
	}
	return nil
}

func (q *taskQuery) addPair(name, text string) error {
	if old, twice := q.Metadata[name]; twice && old != text {
		return fault.Invalid(metadataParameter+name, "must be given once")
	}
	if q.Metadata == nil {
		q.Metadata = task.Metadata{}
	}
	q.Metadata[name] = text
	return nil
}
