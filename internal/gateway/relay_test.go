package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/task"
)

// elsewhere is a node at work on a task, as the others see it. It says a text piece by piece, a second between two.
type elsewhere struct {
	pieces []string
	err    error         // of each relay
	asked  chan string   // the address of each relay
	ended  chan struct{} // one for each relay that has ended
}

func (n *elsewhere) relay(ctx context.Context, address string, said func(api.Delta)) error {
	n.asked <- address
	defer func() { n.ended <- struct{}{} }()
	for _, piece := range n.pieces {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		said(api.Delta{Text: piece})
	}
	if n.err == nil { // it waits for its task's end
		<-ctx.Done()
	}
	return n.err
}

// join has another node be on the same store, with a note.
func (w *world) join(note string, term time.Duration) {
	w.t.Helper()
	e := memstore.Shared{DB: w.store}
	w.engine = e
	if err := e.Renew(w.t.Context(), "another", term); err != nil {
		w.t.Fatal(err)
	}
	if _, err := e.Exchange(w.t.Context(), "another", []byte(note)); err != nil {
		w.t.Fatal(err)
	}
}

// inFleet runs a node beside another one that has said a note, and a lease on a chat.
func inFleet(t *testing.T, note string, do func(w *world, l store.Lease)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, speak())})
		w.join(note, time.Hour)
		l := w.beginAt("another", "text.chat", `{"prompt":"a tale"}`)
		w.start()
		defer w.stop()
		time.Sleep(2 * time.Second) // until they know each other
		do(w, l)
	})
}

// succeed ends the task as its worker does.
func (w *world) succeed(l store.Lease, text string) {
	w.t.Helper()
	_, err := w.store.Advance(context.Background(), l.Ref, store.Step{
		Close: &task.Closing{State: task.OK, Usage: &task.Usage{}}, Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{JSON: fmt.Appendf(nil, `{"text":%q}`, text)}, task.Usage{})},
	})
	if err != nil {
		w.t.Error(err)
	}
}

// TestRelay: a stream has the pieces of a text that another node says, and the end as it is stored, whatever becomes of
// that node.
func TestRelay(t *testing.T) {
	const address = "http://10.0.0.9:8420"
	const reached, unreached = `{"runs":"v1","address":"` + address + `"}`, `{"runs":"v1"}`
	broken := errors.New("the connection was cut")
	for name, tt := range map[string]struct {
		note   string
		pieces []string
		err    error
		whole  string
		want   []string
		asked  int
	}{
		"to its end":             {reached, []string{"Once ", "upon"}, nil, "Once upon", []string{"running", "+Once ", "+upon", "succeeded"}, 1},
		"broken off":             {reached, []string{"Once "}, broken, "Once upon", []string{"running", "+Once ", "+upon", "succeeded"}, 1},
		"another text at last":   {reached, []string{"Once "}, broken, "There was", []string{"running", "+Once "}, 1},
		"nobody answers":         {reached, nil, broken, "Once upon", []string{"running", "+Once upon", "succeeded"}, 1},
		"a node without address": {unreached, nil, nil, "Once upon", []string{"running", "+Once upon", "succeeded"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, tt.note, func(w *world, l store.Lease) {
				n := &elsewhere{pieces: tt.pieces, err: tt.err, asked: make(chan string, 9), ended: make(chan struct{}, 9)}
				s, err := w.g.Follow(w.t.Context(), w.caller, l.Ref.TaskID, n.relay)
				if err != nil {
					w.t.Fatal(err)
				}
				time.AfterFunc(10*time.Second, func() { w.succeed(l, tt.whole) })
				hear(w.t, s).expect(w.t, tt.want...)
				synctest.Wait()
				if len(n.asked) != tt.asked || len(n.ended) != tt.asked {
					w.t.Fatalf("%d relays, %d ended, want %d", len(n.asked), len(n.ended), tt.asked)
				}
				if tt.asked > 0 {
					if got := <-n.asked; got != address {
						w.t.Errorf("relayed from %s", got)
					}
				}
			})
		})
	}
}

// TestRelayOnce: those who follow a text at one node share its relay, which ends with the last of them; one that got no
// text is tried again by the next, one that comes from another node begins none.
func TestRelayOnce(t *testing.T) {
	inFleet(t, `{"runs":"v1","address":"http://10.0.0.9:8420"}`, func(w *world, l store.Lease) {
		n := &elsewhere{err: errors.New("refused"), asked: make(chan string, 9), ended: make(chan struct{}, 9)}
		follow := func(r gateway.Relay) *gateway.Stream {
			s, err := w.g.Follow(w.t.Context(), w.caller, l.Ref.TaskID, r)
			if err != nil {
				w.t.Fatal(err)
			}
			synctest.Wait()
			return s
		}
		expect := func(what string, asked, ended int) {
			w.t.Helper()
			synctest.Wait()
			if len(n.asked) != asked || len(n.ended) != ended {
				w.t.Errorf("%s: %d relays, %d ended, want %d and %d", what, len(n.asked), len(n.ended), asked, ended)
			}
		}
		first := follow(n.relay)
		expect("refused", 1, 1)
		n.err, n.pieces = nil, []string{"Once "}
		second, third := follow(n.relay), follow(n.relay)
		fourth := follow(nil)
		expect("two more", 2, 1)
		time.Sleep(2 * time.Second)
		first.Close()
		second.Close()
		fourth.Close()
		expect("one is left", 2, 1)
		third.Close()
		expect("none is left", 2, 2)
	})
}

// TestRelayLater: a stream has the pieces of work that another node begins while it is open, and of work that couldn't be
// relayed before.
func TestRelayLater(t *testing.T) {
	for name, tt := range map[string]struct {
		first  *store.First
		relays int // before the work begins
	}{
		"of work that waited": {nil, 0},
		"once refused":        {&store.First{Node: "another"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, speak())})
				w.join(`{"runs":"v1","address":"http://10.0.0.9:8420"}`, time.Hour)
				w.engine = idle{memstore.Shared{DB: w.store}}
				made, err := w.store.CreateTask(t.Context(), store.NewTask{
					ID: task.NewID(task.PrefixTask, time.Now()), Scope: w.caller.Scope(), Capability: "text.chat", Sync: true,
					Input: []byte(`{"prompt":"a tale"}`), Parameters: []byte(`{}`), Deadline: time.Hour, First: tt.first,
				})
				if err != nil {
					t.Fatal(err)
				}
				w.start()
				defer w.stop()
				time.Sleep(2 * time.Second) // until they know each other
				n := &elsewhere{err: errors.New("refused"), asked: make(chan string, 9), ended: make(chan struct{}, 9)}
				s, err := w.g.Follow(t.Context(), w.caller, made.Task.ID, n.relay)
				if err != nil {
					t.Fatal(err)
				}
				told := make(chan story, 1)
				go func() { told <- hear(t, s) }()
				time.Sleep(10 * time.Second)
				if len(n.asked) != tt.relays {
					t.Errorf("%d relays before the work begins", len(n.asked))
				}
				n.err, n.pieces = nil, []string{"Once ", "upon"}
				l := w.take(made.Task.ID, made.Lease)
				time.Sleep(10 * time.Second)
				w.succeed(l, "Once upon")
				if got := (<-told).Told; !slices.Equal(got[len(got)-3:], []string{"+Once ", "+upon", "succeeded"}) {
					t.Errorf("told %q", got)
				}
			})
		})
	}
}

// idle is an engine that gives its node no work.
type idle struct{ memstore.Shared }

func (idle) Claim(context.Context, store.ClaimRequest) ([]store.Lease, error) { return nil, nil }

// take has the other node begin an attempt at a chat, whose lease it claims if it has none.
func (w *world) take(id string, l *store.Lease) store.Lease {
	w.t.Helper()
	if l == nil {
		claimed, err := w.store.Claim(w.t.Context(), store.ClaimRequest{
			Node: "another", Limit: 1, Lines: []store.Line{{Mode: task.Live, Capability: "text.chat"}},
		})
		if err != nil || len(claimed) != 1 || claimed[0].Task.ID != id {
			w.t.Fatalf("%+v %v", claimed, err)
		}
		l = &claimed[0]
	}
	l.Ref.Write++
	if _, err := w.store.BeginAttempt(w.t.Context(), l.Ref, routing.Choice{Route: &w.routes[0]}.Plan(nil)); err != nil {
		w.t.Fatal(err)
	}
	l.Ref.Write++
	return *l
}

// lookups is an engine that counts how often it is asked which node works on a task.
type lookups struct {
	memstore.Shared
	asked *atomic.Int64
}

func (e lookups) Worker(ctx context.Context, id string) (string, error) {
	e.asked.Add(1)
	return e.Shared.Worker(ctx, id)
}

// TestRelayLooksOnce: the store is asked for the node at work only if a text may come from another one, and once for all
// who follow it.
func TestRelayLooksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaks := speak("Once ", "upon")
		speaks.takes = time.Minute // without a stream
		w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, speaks)})
		w.join(`{"runs":"v1","address":"http://10.0.0.9:8420"}`, time.Hour)
		var asked atomic.Int64
		w.engine = lookups{memstore.Shared{DB: w.store}, &asked}
		drawn, told := w.beginAt("another", "image.generate", `{"prompt":"a fox"}`), w.beginAt("another", "text.chat", `{"prompt":"a tale"}`)
		w.start()
		defer w.stop()
		time.Sleep(2 * time.Second) // until they know each other
		n := &elsewhere{asked: make(chan string, 9), ended: make(chan struct{}, 9)}
		follow := func(what, id string, want int64) {
			t.Helper()
			s, err := w.g.Follow(t.Context(), w.caller, id, n.relay)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 { // its task may have changed each time
				if _, err := s.Next(t.Context(), 2*time.Second); err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
			}
			t.Cleanup(s.Close)
			if got := asked.Swap(0); got != want || int64(len(n.asked)) != want {
				t.Errorf("%s: looked %d times and begun %d relays, want %d", what, got, len(n.asked), want)
			}
		}
		streamed := w.open("streamed-here", chat)
		streamed.Stream.Close()
		follow("streamed here", streamed.Task.ID, 0)
		plain := w.create("at-work-here", chat, 0)
		synctest.Wait() // until its worker begins
		follow("at work here", plain.Task.ID, 0)
		follow("a picture", drawn.Ref.TaskID, 0)
		follow("the first", told.Ref.TaskID, 1)
		<-n.asked
		follow("the second", told.Ref.TaskID, 0)
	})
}

// TestRelayEndsWithTakeover: once this node works on the task, the text is its own worker's alone.
func TestRelayEndsWithTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, speak("Once ", "upon ", "a ", "time"))})
		w.join(`{"runs":"v1","address":"http://10.0.0.9:8420"}`, 10*time.Second)
		made, err := w.store.CreateTask(t.Context(), store.NewTask{
			ID: task.NewID(task.PrefixTask, time.Now()), Scope: w.caller.Scope(), Capability: "text.chat", Sync: true,
			Input: []byte(`{"prompt":"a tale"}`), Parameters: []byte(`{}`), Deadline: time.Hour, First: &store.First{Node: "another"},
		})
		if err != nil {
			t.Fatal(err)
		}
		w.start()
		defer w.stop()
		begun := make(chan struct{})
		s, err := w.g.Follow(t.Context(), w.caller, made.Task.ID, func(ctx context.Context, _ string, said func(api.Delta)) error {
			<-begun
			said(api.Delta{Text: "stale "})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for w.get(made.Task.ID).State == task.Queued {
				time.Sleep(100 * time.Millisecond)
			}
			close(begun)
		}()
		if got := hear(t, s).text(); got != "Once upon a time" {
			t.Errorf("told %q", got)
		}
	})
}

// passOn returns a relay that reads the text at a node as another node does.
func (w *world) passOn(at *gateway.Gateway, id string) gateway.Relay {
	return func(ctx context.Context, _ string, said func(api.Delta)) error {
		s, err := at.Follow(ctx, w.caller, id, nil)
		if err != nil {
			return err
		}
		defer s.Close()
		for {
			e, err := s.Next(ctx, time.Hour)
			if err != nil {
				return err
			}
			said(e.Piece)
		}
	}
}

// TestRelayedStreamCanceled: the charge of a canceled text is that of the text which other nodes read, and they tell all of
// it, also to a caller who reads it only after the cancellation.
func TestRelayedStreamCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, speak("eight by", "te words", " and one", " more..."))})
		w.engine, w.address = memstore.Shared{DB: w.store}, "http://10.0.0.9:8420"
		w.start()
		defer w.stop()
		other := w.node()
		defer mustStop(t, other)
		time.Sleep(2 * time.Second) // until they know each other
		a := w.open("canceled-1", chat)
		defer a.Stream.Close()
		lagging, err := other.Follow(t.Context(), w.caller, a.Task.ID, w.passOn(w.g, a.Task.ID))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond)
		got := w.cancel(w.g, a.Task.ID)
		input := int64(len(`{"prompt":"hello"}`)+3) / 4
		want := task.Usage{InputTokens: input, OutputTokens: 6}
		if diff := cmp.Diff(&want, got.Usage); diff != "" || got.Cost != task.Money(input+6)*task.USD/1_000_000 {
			t.Errorf("it costs %s (-want +got):\n%s", got.Cost, diff)
		}
		hear(t, lagging).expect(t, "running", "+eight byte words and one", "canceled")
	})
}
