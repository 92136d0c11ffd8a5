package gateway

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"unitask/internal/api"
	"unitask/internal/gate"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// Event is the next event of a Stream: the task as it is now, a piece of its result, or no change, after the requested
// time without one.
type Event struct {
	Task  *task.Task // good until the next call
	Piece api.Delta
}

// Stream follows one task to its end: first the task as it is, then its text as it comes and the task whenever it
// changes, last the task that has ended. The pieces of text are best effort, said on the node that does the work; if
// the task succeeds they make up its text, or there are no pieces, or the stream breaks off before the end. One
// goroutine uses a Stream; it delays only itself.
type Stream struct {
	g        *Gateway
	text     *textStream
	relay    Relay           // nil: only what is said here is told
	relayed  int64           // the revision at which a relay was last looked for
	changed  <-chan struct{} // of the task
	stopWake func()
	again    *time.Ticker // wakes are best effort
	quiet    *time.Timer

	first task.Task
	t     task.Task   // as read last
	stale bool        // it may have changed since
	whole *textStream // of a task that succeeded, once what was said is told
	read  place

	checked, agrees bool  // whether all that was said is of the task's output
	sent            int64 // the revision told last
	opened          bool
	ending          bool // the node goes down
	torn            bool // the text of the task that succeeded isn't the one that was told
	over            bool
}

// stream returns a Stream of the task that was just read or created.
func (g *Gateway) stream(t task.Task, v *textStream) *Stream {
	s := &Stream{g: g, text: v, again: time.NewTicker(recheck), quiet: time.NewTimer(recheck), first: t, t: t, stale: true}
	s.changed, s.stopWake = g.store.Wake(t.ID)
	return s
}

// Follow returns a Stream of a task of the caller's account, mode and scope, or NOT_FOUND. Close it. relay reads the
// text at another node that works on the task; nil: only what is said here is told.
func (g *Gateway) Follow(ctx context.Context, c gate.Caller, id string, relay Relay) (*Stream, error) {
	t, err := g.Get(ctx, c, id)
	if err != nil {
		return nil, err
	}
	s, err := g.followed(ctx, t)
	if err != nil {
		return nil, err
	}
	s.relay = relay
	s.relayText(ctx)
	return s, nil
}

// followed returns a Stream that begins with the task as read after subscribing, so that no change is missed.
func (g *Gateway) followed(ctx context.Context, t task.Task) (*Stream, error) {
	s := g.stream(t, g.texts.follow(t.ID))
	if err := s.refresh(ctx); err != nil {
		s.Close()
		return nil, err
	}
	s.first = s.t
	return s, nil
}

// Close ends the Stream. It may be called more than once, and on a nil Stream.
func (s *Stream) Close() {
	if s == nil || s.text == nil {
		return
	}
	s.stopWake()
	s.again.Stop()
	s.quiet.Stop()
	s.g.texts.leave(s.text)
	s.text = nil
}

// Silent reports whether only the end is left to send. A nil Stream is silent.
func (s *Stream) Silent() bool {
	return s == nil || s.first.State.Terminal() || s.t.State.Terminal() && !s.text.started()
}

// Next returns the next event, after patience an empty one. It returns io.EOF after the task that has ended, and
// before it if the node goes down, when another may be asked, or if the text isn't the one that was told.
func (s *Stream) Next(ctx context.Context, patience time.Duration) (Event, error) {
	s.quiet.Reset(patience)
	for {
		if e, err := s.ready(ctx); err != nil || e != (Event{}) {
			return e, err
		}
		if s.over || s.ending {
			return Event{}, io.EOF
		}
		if err := s.wait(ctx); err != nil {
			if errors.Is(err, errQuiet) {
				err = nil
			}
			return Event{}, err
		}
	}
}

// errQuiet ends a wait without a change.
var errQuiet = errors.New("gateway: nothing happened")

// begin waits until there is something to tell that the answer depends on: text or the end. It waits no longer than
// the given time, and ends when the caller is gone or the node goes down.
func (s *Stream) begin(ctx context.Context, most time.Duration) error {
	s.quiet.Reset(most)
	for {
		if err := s.refresh(ctx); err != nil || s.t.State.Terminal() || s.text.started() || s.ending {
			return err
		}
		if woken := s.wait(ctx) == nil; !woken {
			return nil
		}
	}
}

// ready returns what can be told at once. A change comes before the text that follows it, the end
// after all text: the worker says it before it commits the end, and the task is read first here.
func (s *Stream) ready(ctx context.Context) (Event, error) {
	if s.over {
		return Event{}, nil
	}
	if !s.opened {
		s.opened = true
		return s.emit(&s.first), nil
	}
	if err := s.refresh(ctx); err != nil {
		return Event{}, err
	}
	if s.t.Revision != s.sent && !s.t.State.Terminal() {
		return s.emit(&s.t), nil
	}
	if piece := s.piece(); piece != (api.Delta{}) {
		return Event{Piece: piece}, nil
	}
	if s.torn {
		return Event{}, io.EOF
	}
	if s.t.Revision != s.sent {
		return s.emit(&s.t), nil
	}
	return Event{}, nil
}

func (s *Stream) emit(t *task.Task) Event {
	s.sent, s.over = t.Revision, t.State.Terminal()
	return Event{Task: t}
}

// piece returns the next piece. What was not told of a task that succeeded, its output has.
func (s *Stream) piece() (piece api.Delta) {
	ended := s.t.State == task.Succeeded
	if ended && !s.checked {
		s.checked, s.agrees = true, s.text.agrees(s.t.Output)
	}
	if s.whole == nil && (!ended || s.agrees) {
		if piece, s.read = s.text.next(s.read); piece != (api.Delta{}) || !ended {
			return piece
		}
	}
	if s.whole == nil {
		s.torn = !s.agrees && s.read != place{}
		s.whole = &textStream{}
		if !s.torn {
			s.whole = wholeText(s.t.Output)
		}
		s.read = s.whole.behind(s.read)
	}
	piece, s.read = s.whole.next(s.read)
	return piece
}

// refresh reads the task if it may have changed.
func (s *Stream) refresh(ctx context.Context) error {
	if !s.stale || s.t.State.Terminal() {
		return nil
	}
	s.stale = false
	t, err := s.g.store.GetTask(context.WithoutCancel(ctx), s.t.Scope, s.t.ID)
	if err == nil {
		s.t = t
		s.relayText(ctx)
	}
	return storeFault(err)
}

// wait returns when there may be something to tell, else errQuiet or why ctx ended.
func (s *Stream) wait(ctx context.Context) error {
	end := s.g.haltCtx.Done()
	if s.t.Sync {
		end = s.g.abortCtx.Done() // its work goes on through the grace
	}
	select {
	case <-s.text.changedAfter(s.read):
	case <-s.changed:
		s.stale = true
	case <-s.again.C:
		s.stale = true
	case <-end:
		s.stale, s.ending = true, true
	case <-s.quiet.C:
		return errQuiet
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// send submits the request, once. If a stream follows the task and the supplier can, the text is published as it
// comes.
func (w *work) send(ctx context.Context, route routing.Route, req supplier.Request) (supplier.Outcome, error) {
	streamer, ok := route.Adapter.(supplier.Streamer)
	if !ok || !w.followed() {
		return route.Adapter.Submit(ctx, req)
	}
	out, err := streamer.Stream(ctx, req, w.say)
	if err == nil || !w.text.started() {
		return out, err
	}
	return out, supplier.AfterText(err)
}

// say publishes a piece.
func (w *work) say(d supplier.Delta) {
	w.text.append(api.Delta{Reasoning: d.Reasoning})
	w.text.append(api.Delta{Text: d.Text})
	for _, c := range d.Calls {
		w.text.append(api.Delta{ToolCall: &api.CallPiece{Index: c.Index, ID: w.callID(c.Index), Name: c.Name, Arguments: c.Arguments}})
	}
}

// callID is the id of a tool call of the open attempt, by which its result refers to it.
func (w *work) callID(index int) string {
	return task.DeriveID(task.PrefixCall, w.t.ID, strconv.Itoa(len(w.t.Attempts))+"/"+strconv.Itoa(index))
}

// followed reports whether a stream follows the task and has had no text yet: an earlier attempt's words are not
// mixed with another's.
func (w *work) followed() bool {
	if w.text == nil {
		w.text = w.g.texts.forWorker(w.t.ID)
	}
	return w.text != nil && !w.text.started()
}

// deliveredText returns the usage of a canceled task's delivered text: its input and the text that streams have taken
// of it, in tokens by the usual estimate, nil for no text. No more of it is told.
func (w *work) deliveredText() *task.Usage {
	if w.text == nil {
		return nil
	}
	n := int64(w.text.stop())
	if n == 0 {
		return nil
	}
	u := task.Usage{
		InputTokens:  (w.size.InputTokens + bytesPerToken - 1) / bytesPerToken,
		OutputTokens: min((n+bytesPerToken-1)/bytesPerToken, w.size.OutputTokens),
	}
	if w.t.Price.CountsRequests() {
		u.Requests = 1
	}
	return &u
}

// bytesPerToken is about that of English text.
const bytesPerToken = 4

// opened answers a creation by its stream, once there is something to tell or the wait is over.
func (g *Gateway) opened(ctx context.Context, s *Stream, wait time.Duration, admit store.Admit) (Accepted, error) {
	if err := s.begin(ctx, wait); err != nil {
		s.Close()
		return Accepted{}, err
	}
	return Accepted{Task: s.t, Replayed: admit == store.AdmitReplayed, Stream: s}, nil
}
