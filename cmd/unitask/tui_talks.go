package main

import (
	"context"

	"unitask/internal/api"
	"unitask/internal/arguments"
	"unitask/internal/catalog"
	"unitask/internal/chat"
	"unitask/internal/journal"
	"unitask/internal/submit"
	"unitask/internal/submit/talk"
	"unitask/internal/tui"
)

// mostListedTalks is how many conversations the dashboard lists.
const mostListedTalks = 500

// dashboardTalks are this machine's conversations, as the dashboard has them with one service. It is safe for
// concurrent use.
type dashboardTalks struct{ service *submit.Service }

// List returns the conversations, the one that changed last first.
func (dashboardTalks) List() ([]chat.Summary, error) {
	return chat.Open(journal.StateDir()).Summaries(mostListedTalks)
}

// Open takes a conversation of this service, or begins one for an empty id: by the preferred capability if that takes
// one.
func (d dashboardTalks) Open(ctx context.Context, id, preferred string) (tui.Talk, error) {
	s := &talk.Session{Service: d.service, Store: chat.Open(journal.StateDir()), Describe: describe, Ahead: d.ahead}
	var err error
	if s.Place, err = talk.PlaceOf(ctx, d.service); err != nil {
		return nil, err
	}
	all, err := d.service.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	directory := listedCapabilities(all)
	if id == "" {
		if s.Entry, err = talking(ctx, directory, preferred); err != nil {
			s.Entry, err = talking(ctx, directory, string(catalog.TextChat))
		}
		s.Talk = s.Store.New(chat.Settings{Capability: string(s.Entry.Name)})
		return talk.NewDesk(s), err
	}
	if s.Talk, err = takeChat(s.Store, id); err != nil {
		return nil, err
	}
	if err = s.Owns(false); err == nil {
		s.Entry, err = talking(ctx, directory, s.Talk.Capability)
	}
	if err != nil {
		_ = s.Talk.Close() // the reason is said
		return nil, err
	}
	return talk.NewDesk(s), nil
}

// ahead sends the large files of a message.
func (d dashboardTalks) ahead(ctx context.Context) arguments.AheadFunc {
	return (&ahead{ctx: ctx, client: d.service.Client}).send
}

// listedCapabilities is a directory that was read.
type listedCapabilities []api.Capability

// Capabilities returns it.
func (l listedCapabilities) Capabilities(context.Context) ([]api.Capability, error) { return l, nil }
