package notify

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// The bounds of an endpoint.
const (
	maxURL         = 2048 // bytes
	maxDescription = 256  // characters
	maxPatterns    = 64
)

var (
	errUnknown  = fault.New(fault.NotFound, "there is no such webhook")
	errDelivery = fault.New(fault.NotFound, "there is no such delivery of this webhook")
)

// errRetiring is the refusal to break the promise that an earlier secret signs until then.
func errRetiring(until time.Time) error {
	at := until.Add(time.Second - 1).UTC().Format(time.RFC3339) // not before
	return fault.Invalid("keep_old_for_seconds", "must be 0 until "+at+": an earlier secret signs too until then, and 0 ends both").
		WithAspect(fault.AspectConflict).WithDetails(fault.Detail{Field: "old_secret_until", Message: at})
}

// known turns the store's errors into a caller's.
func known(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return errUnknown
	}
	return err
}

// check returns the fault of an endpoint that a holder makes or changes, and gives it the holder's capabilities if it
// names none. Those of before and of the key are taken also when there is no such capability any more.
func (d *Endpoints) check(h Holder, e *webhook.Endpoint, before []string) error {
	if len(e.Capabilities) == 0 && !account.Allows(h.patterns(), "*") {
		e.Capabilities = h.patterns()
		before = e.Capabilities
	}
	if utf8.RuneCountInString(e.Description) > maxDescription || !utf8.ValidString(e.Description) {
		return fault.Invalid("description", "must have at most "+strconv.Itoa(maxDescription)+" characters")
	}
	if len(e.Capabilities) > maxPatterns {
		return fault.Invalid("capabilities", "must have at most "+strconv.Itoa(maxPatterns)+" patterns")
	}
	for _, p := range e.Capabilities {
		if !account.ValidPattern(p) {
			return fault.Invalid("capabilities", `holds a text that is no pattern: "image.generate", "image.*" and "*" are`)
		}
	}
	if d.DirectoryFunc != nil {
		if err := gate.CheckPatterns("capabilities", e.Capabilities, before, d.DirectoryFunc()); err != nil {
			return err
		}
	}
	if beyond := h.beyond(e.Capabilities); len(beyond) > 0 {
		return fault.Invalid("capabilities", "holds "+strconv.Quote(beyond[0])+", which is not in the scopes of this key")
	}
	switch {
	case e.Budgets && !h.all():
		return fault.Invalid("budgets", "are the account's: a key of some capabilities makes no webhook of them")
	case e.Budgets && h.Scope.Mode != task.Live:
		return fault.Invalid("budgets", "are told of by live webhooks alone: tests are free")
	}
	for _, s := range e.States {
		if !slices.Contains([]task.State{task.Succeeded, task.Failed, task.Canceled}, s) {
			return fault.Invalid("states", "may hold succeeded, failed and canceled: the ends of a task")
		}
	}
	slices.Sort(e.States)
	e.States = slices.Compact(e.States)
	return nil
}

// beyond returns the patterns that the holder's scopes don't cover; "*" for no pattern at all.
func (h Holder) beyond(patterns []string) (out []string) {
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	for _, p := range patterns {
		if !account.Allows(h.patterns(), p) {
			out = append(out, p)
		}
	}
	return out
}

// listening is the way for a program that no address leads to.
const listening = "a program on your own machine is told by: unitask webhooks listen --forward URL"

// checkURL returns the fault of an address, of which no more than host and port is repeated: its query may be a secret.
func (d *Endpoints) checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxURL || strings.ContainsAny(text, " \t\r\n"):
		return fault.Invalid("url", "must be an address of at most "+strconv.Itoa(maxURL)+" bytes")
	case u.Scheme == "http" && !d.HTTP:
		return fault.Invalid("url", "must be an https address; "+listening+", and the operator may allow http (the setting webhook_http)")
	case u.Scheme != "https" && u.Scheme != "http":
		return fault.Invalid("url", "must be an https address")
	case u.Fragment != "":
		return fault.Invalid("url", "must not have a fragment")
	}
	if problem := artifact.CheckURL(u); problem != "" {
		return fault.Invalid("url", problem)
	}
	at := net.JoinHostPort(u.Hostname(), artifact.PortOf(u))
	switch d.Guard.Refuses(u) {
	case artifact.RefusedPort:
		return fault.Invalid("url", "has the port "+artifact.PortOf(u)+", and 80, 443, 8080 and 8443 are open; the operator may allow it (the setting webhook_allow may hold "+at+")")
	case artifact.RefusedAddress:
		return fault.Invalid("url", "must be at a public address; "+listening+", and the operator may allow others (the setting webhook_allow may hold "+at+")")
	default:
		return nil
	}
}
