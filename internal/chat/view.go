package chat

import "time"

// Summary is a conversation in a list.
type Summary struct {
	ID         string
	Title      string
	Changed    time.Time // zero for a new one
	Turns      int
	Unanswered bool // the last message waits for its answer
	Capability string
	Place      Place
}

// View is a conversation as a person sees it. It doesn't change when the conversation does.
type View struct {
	Summary

	Messages []Said // of the turns with answers, and of the open one
	Failed   []Said // of the last turn, if it failed
	Failure  *Failure
	Calls    []Call // of tools, which wait for their results
	Spent    Spent
}

// Summary describes the conversation.
func (c *Conversation) Summary() Summary {
	return Summary{
		ID: c.ID, Title: c.Title, Changed: c.Changed, Turns: len(c.Turns), Unanswered: c.Open != nil,
		Capability: c.Capability, Place: c.Place(),
	}
}

// View shows the conversation.
func (c *Conversation) View() View {
	v := View{Summary: c.Summary(), Calls: c.Calls(), Spent: c.Spent()}
	for i := range c.Turns {
		v.Messages = append(v.Messages, c.Turns[i].Said()...)
	}
	if c.Open != nil {
		v.Messages = append(v.Messages, c.Open.Said()...)
	}
	if c.Failed != nil {
		why := *c.Failed.Failure
		v.Failed, v.Failure = c.Failed.Said(), &why
	}
	return v
}

// Summaries describes the conversations that changed last, at most so many. One that can't be read is left out.
func (s *Store) Summaries(most int) ([]Summary, error) {
	ids, err := s.List()
	if err != nil {
		return nil, err
	}
	var all []Summary
	for _, id := range ids[:min(len(ids), most)] {
		if c, err := s.Peek(id); err == nil {
			all = append(all, c.Summary())
		}
	}
	return all, nil
}
