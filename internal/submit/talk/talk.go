// Package talk has conversations with a service, so that no message is paid for twice, whatever happens to this
// process: a turn is durable before its request is sent, and one that a process left open is sent again under its key.
//
// Session is a conversation and the service that answers it; the command and the dashboard use it alike. Desk is one
// for a screen, which goes on with a conversation while it is drawn. They print no word.
package talk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"unitask/internal/api"
	"unitask/internal/arguments"
	"unitask/internal/catalog"
	"unitask/internal/chat"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/form"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/submit"
)

// Session is a conversation, or several one after another, and the service that answers. It is used by one goroutine.
type Session struct {
	Service  *submit.Service
	Place    chat.Place
	Entry    api.Capability
	Store    *chat.Store
	Talk     *chat.Conversation
	Resumed  bool               // the request of the open turn may be out, by an earlier process or this one
	Describe func(error) string // an error in the words that are kept with its turn

	// Ahead sends large files ahead of a Desk's messages, until ctx ends; nil: they stand in the request.
	Ahead func(ctx context.Context) arguments.AheadFunc
}

// PlaceOf is the service as turns name it.
func PlaceOf(ctx context.Context, s *submit.Service) (chat.Place, error) {
	mode, err := s.ModeOfKey(ctx)
	at := chat.Place{BaseURL: s.BaseURL(), Profile: s.Target.Name, Mode: string(mode)}
	if at.Profile == "" {
		at.DataDir = s.Target.Profile.DataDir
	}
	return at, err
}

// Takes reports whether a capability takes a conversation.
func Takes(c api.Capability) bool {
	fields, err := catalog.FieldsOf(c.InputSchema, c.ParametersSchema)
	return err == nil && slices.ContainsFunc(fields, func(f catalog.Field) bool {
		return f.Group == catalog.GroupInput && f.Name == "messages" && f.Array
	})
}

// Fields are those of the capability.
func (s *Session) Fields() []catalog.Field {
	fields, _ := catalog.FieldsOf(s.Entry.InputSchema, s.Entry.ParametersSchema) // Takes has read them
	return fields
}

// Prompt is the name of the field for a text.
func (s *Session) Prompt() string {
	field, _ := form.Primary(s.Fields())
	return field.Name
}

// Owns finds out whether the conversation is with this service. One without an open turn goes on with another one if
// that was named.
func (s *Session) Owns(named bool) error {
	at := s.Talk.Place()
	if at.BaseURL != "" && at.BaseURL != s.Place.BaseURL && (s.Talk.Open != nil || !named) {
		flags := submit.FlagsTo(journal.Submission{BaseURL: at.BaseURL, Profile: at.Profile, DataDir: at.DataDir})
		return hint.With(fmt.Errorf("%s is with %s, and this is %s", s.Talk.ID, at.BaseURL, s.Place.BaseURL), "unitask chat continue "+s.Talk.ID+flags)
	}
	if s.Talk.Open != nil && at.Mode != "" && s.Place.Mode != "" && at.Mode != s.Place.Mode {
		return hint.With(fmt.Errorf("the last message of %s was sent with a %s key, and this is a %s key", s.Talk.ID, at.Mode, s.Place.Mode),
			"UNITASK_API_KEY, --api-key-file or --profile gives another key")
	}
	return nil
}

// Ask begins a turn, which is durable then. Wait sends it.
func (s *Session) Ask(messages []json.RawMessage, files []journal.File) error {
	if err := s.Talk.Ask(client.NewIdempotencyKey(), s.Place, messages, files); err != nil {
		return unkept(err)
	}
	s.Resumed = false
	return nil
}

// unkept is the error if the conversation can't be written, so that no request is sent.
func unkept(err error) error {
	return hint.With(fmt.Errorf("nothing was sent, because the conversation can't be written: %w", err), "UNITASK_STATE_DIR names a folder for it")
}

// Again begins a turn with the last message: a failure that another try may mend under its own key.
func (s *Session) Again() error {
	former := s.Talk.Failed
	key := client.NewIdempotencyKey()
	switch {
	case former == nil && len(s.Talk.Turns) == 0:
		return &hint.UsageError{Message: "there is no message to send again", Hint: "/help"}
	case former == nil:
		last := s.Talk.Turns[len(s.Talk.Turns)-1]
		if err := s.Talk.Undo(1); err != nil {
			return err
		}
		former = &last
	case former.Failure.Retryable && former.Place == s.Place && age(former) < journal.MaxAge:
		key = former.Key
	}
	if err := s.Talk.AskAgain(key, s.Place, former); err != nil {
		return unkept(err)
	}
	s.Resumed = false
	return nil
}

// Undo takes the last message back, and its answer and those to tools' results after it. It returns its words.
func (s *Session) Undo() (words string, err error) {
	n := 0
	for asked := false; n < len(s.Talk.Turns) && !asked; n++ {
		asked = s.Talk.Turns[len(s.Talk.Turns)-1-n].Asks()
	}
	if n == 0 {
		return "", &hint.UsageError{Message: "there is no message to take back", Hint: "/help"}
	}
	for _, m := range s.Talk.Turns[len(s.Talk.Turns)-n].Said()[:1] {
		words = m.Text
	}
	return words, s.Talk.Undo(n)
}

// Cancel ends the task of the open turn, so that a Wait comes to its end. givenUp reports that the task can't be found
// and the turn was ended without it.
func (s *Session) Cancel(ctx context.Context) (givenUp bool, err error) {
	if s.Talk.Open == nil {
		return false, &hint.UsageError{Message: "no answer is being made", Hint: "/help"}
	}
	id, err := s.openTask(ctx)
	if _, changed := errors.AsType[*journal.ChangedError](err); changed && s.Talk.Open != nil {
		return true, s.Talk.Fail(chat.Failure{Message: "a file of its request has changed"})
	}
	if err != nil {
		return false, err
	}
	_, err = s.Service.Cancel(ctx, id)
	return false, err
}

// openTask returns the task of the open turn. If the journal doesn't know it, its key finds it.
func (s *Session) openTask(ctx context.Context) (string, error) {
	id, err := submit.ByKey(s.Service.Journal, s.Talk.Open.Key)
	if err != nil {
		return "", err
	}
	if entry, err := s.Service.Journal.Peek(id); err == nil && entry.TaskID != "" {
		return entry.TaskID, nil
	}
	sub, _, err := s.submission(ctx, nil)
	if err != nil {
		return "", err
	}
	s.Resumed = true
	made, err := sub.Create(ctx, 0)
	if err != nil {
		return "", sub.SettleAlone(err)
	}
	_ = sub.SettleAlone(&submit.LeftRunningError{TaskID: made.ID, Cause: context.Canceled}) // it stays for Wait
	return made.ID, nil
}

// failure is a turn's end without an answer.
func (s *Session) failure(done api.Task, err error) chat.Failure {
	why := chat.Failure{TaskID: done.ID, Message: s.Describe(err), Usage: done.Usage}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		why.Code, why.Retryable = f.Code, f.Retryable()
		if f.TaskID != "" {
			why.TaskID = f.TaskID
		}
	}
	return why
}
