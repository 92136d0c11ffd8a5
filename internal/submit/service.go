package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/snippet"
	"unitask/internal/task"
)

// Service is a client with the journal of its submissions. It is safe for concurrent use.
type Service struct {
	*client.Client
	Target  client.Target
	Key     client.KeyFunc
	Flags   string // to write after a command so that it reaches the same service, with a space before; "" without
	Journal *journal.Journal
}

// ModeOfKey returns the key's mode, "" if its text doesn't say.
func (s *Service) ModeOfKey(ctx context.Context) (task.Mode, error) {
	key, err := s.Key(ctx)
	return account.ModeOf(key.Reveal()), err
}

// Describe names the profile, the mode of its key and the service: "local, test: http://127.0.0.1:8420".
func (s *Service) Describe(ctx context.Context) string {
	mode, _ := s.ModeOfKey(ctx) // a key that can't be had is reported when it is needed
	about := []string{s.Target.Name, string(mode)}
	about = slices.DeleteFunc(about, func(word string) bool { return word == "" })
	if len(about) == 0 {
		return s.Target.BaseURL
	}
	return strings.Join(about, ", ") + ": " + s.Target.BaseURL
}

// Begin writes a submission, whose Body is the request's JSON, durably to the journal. onTask, if not nil, gets each
// revision of the task.
func (s *Service) Begin(ctx context.Context, sub journal.Submission, onTask func(api.Task)) (*Submission, error) {
	mode, err := s.ModeOfKey(ctx)
	if err != nil {
		return nil, err
	}
	sub.BaseURL, sub.Profile, sub.Mode = s.BaseURL(), s.Target.Name, string(mode)
	if sub.Profile == "" {
		sub.DataDir = s.Target.Profile.DataDir
	}
	entry, err := s.Journal.Begin(sub)
	if err != nil {
		return nil, Unjournaled(err)
	}
	return newSubmission(s, entry, onTask), nil
}

// Again is Begin for a request that another process may have sent under its key.
func (s *Service) Again(ctx context.Context, sub journal.Submission, onTask func(api.Task)) (*Submission, error) {
	again, err := s.Begin(ctx, sub, onTask)
	if err == nil {
		again.doubtful = true
	}
	return again, err
}

// Unjournaled is the error if the journal can't be written, so that no request is sent.
func Unjournaled(err error) error {
	return hint.With(fmt.Errorf("nothing was sent, because the journal of submissions can't be written: %w", err),
		"UNITASK_STATE_DIR names a folder for it")
}

// Submit creates a task under the key and lets the service hold its answer for wait, whole seconds. Its entry stays in
// the journal only if no answer says whether the service has the task.
func (s *Service) Submit(ctx context.Context, req api.CreateRequest, key string, wait time.Duration) (api.Task, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return api.Task{}, err
	}
	sub, err := s.Begin(ctx, journal.Submission{Key: key, Body: body}, nil)
	if err != nil {
		return api.Task{}, err
	}
	created, err := sub.Create(ctx, wait)
	return created, sub.SettleAlone(err)
}

// Take continues an entry that another process left, which may have sent it.
func (s *Service) Take(entry *journal.Entry, onTask func(api.Task)) *Submission {
	sub := newSubmission(s, entry, onTask)
	sub.doubtful = true
	return sub
}

// Owns finds out whether an entry's request was for this service, and its key of this mode. It returns an
// *OtherServiceError, or an error for the other mode.
func (s *Service) Owns(ctx context.Context, e *journal.Entry) error {
	if e.BaseURL != s.BaseURL() {
		flags := FlagsTo(e.Submission)
		return hint.With(&OtherServiceError{e.Name(), e.BaseURL, flags}, "unitask tasks resume "+e.Name()+flags)
	}
	mode, err := s.ModeOfKey(ctx)
	if err != nil {
		return err
	}
	if e.Mode != "" && mode != "" && e.Mode != string(mode) {
		return hint.With(fmt.Errorf("%s was submitted with a %s key, and this is a %s key", e.Name(), e.Mode, mode),
			"UNITASK_API_KEY, --api-key-file or --profile gives another key")
	}
	return nil
}

// OtherServiceError reports an entry whose request was for another address.
type OtherServiceError struct {
	Name, BaseURL string
	Flags         string // that reach the other service
}

// Error names both.
func (e *OtherServiceError) Error() string { return e.Name + " is for " + e.BaseURL }

// FlagsTo are the flags that reach the service of a submission, whose profile may have another name by now.
func FlagsTo(e journal.Submission) string {
	all, err := client.LoadProfiles(client.ConfigDir())
	switch {
	case err == nil && e.Profile != "" && all.Profiles[e.Profile].BaseURL == e.BaseURL:
		return " --profile " + e.Profile
	case e.DataDir != "":
		return " --data-dir " + snippet.Word(e.DataDir)
	default:
		return " --base-url " + snippet.Word(e.BaseURL)
	}
}

// Find returns the id of the entry that a person means by its own id or its task's. It returns a *NotJournaledError if
// there is no such entry.
func Find(j *journal.Journal, name string) (string, error) {
	all, err := j.List()
	if err != nil {
		return "", err
	}
	for _, id := range all {
		if id == name {
			return id, nil
		}
		if e, err := j.Peek(id); err == nil && e.TaskID == name {
			return id, nil
		}
	}
	return "", hint.With(&NotJournaledError{name}, "unitask tasks wait "+name+" waits for a task that is known to the service")
}

// ByKey returns the id of the entry with this Idempotency-Key, "" without one.
func ByKey(j *journal.Journal, key string) (string, error) {
	all, err := j.List()
	for _, id := range all {
		if e, err := j.Peek(id); err == nil && e.Key == key {
			return id, nil
		}
	}
	return "", err
}

// NotJournaledError is an id that the journal doesn't hold.
type NotJournaledError struct{ Name string }

// Error names it.
func (e *NotJournaledError) Error() string { return "this machine's journal holds no " + e.Name }

// State is an entry of the journal as it stands now.
type State struct {
	ID         string         `json:"id"` // of the entry
	TaskID     string         `json:"task_id,omitempty"`
	Capability string         `json:"capability,omitempty"`
	State      string         `json:"state"` // unfinished, failed, running (here, in another process) or damaged
	BaseURL    string         `json:"base_url,omitempty"`
	Profile    string         `json:"profile,omitempty"`
	Mode       string         `json:"mode,omitempty"`
	Output     string         `json:"output,omitempty"`
	ChangedAt  *api.Timestamp `json:"changed_at,omitempty"`
}

// Look reads an entry without sending anything. It returns fs.ErrNotExist for one that has ended or was never whole,
// which goes, as it does whenever one is taken.
func Look(j *journal.Journal, id string) (State, error) {
	state := State{ID: id, State: "unfinished"}
	e, err := j.Take(id)
	if err == nil {
		defer func() { _ = e.Close() }()
	}
	if errors.Is(err, journal.ErrBusy) {
		state.State = "running"
		e, err = j.Peek(id)
	}
	if _, damaged := errors.AsType[*journal.DamagedError](err); damaged {
		state.State = "damaged"
		return state, nil
	}
	if errors.Is(err, journal.ErrUnsent) {
		return state, fs.ErrNotExist
	}
	if err != nil {
		return state, err
	}
	if e.Failed {
		state.State = "failed"
	}
	var request api.CreateRequest
	if body, err := e.Load(); err == nil {
		_ = json.Unmarshal(body, &request) // else the capability isn't shown
	}
	state.TaskID, state.Capability, state.BaseURL, state.Profile = e.TaskID, request.Capability, e.BaseURL, e.Profile
	state.Mode, state.Output, state.ChangedAt = e.Mode, e.Output, &api.Timestamp{Time: time.Now().Add(-e.Age)}
	return state, nil
}
