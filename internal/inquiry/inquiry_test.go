package inquiry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/inquiry"
)

// board is where desks exchange what they say: each second, and sooner when one has news or waits.
type board struct {
	*testing.T
	ctx   context.Context
	all   sync.WaitGroup
	calls atomic.Int64 // of AnswerFunc

	mu    sync.Mutex
	notes map[string][]byte
}

// inBoard runs a test in a bubble of virtual time.
func inBoard(t *testing.T, f func(b *board)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := &board{T: t, ctx: ctx, notes: map[string][]byte{}}
		defer b.all.Wait()
		defer cancel()
		f(b)
	})
}

// node adds a node that answers, after some time, with its name and the question.
func (b *board) node(name string, answers func(question string) string) *inquiry.Desk {
	d := inquiry.New(inquiry.Config{Name: "host of " + name, AnswerFunc: func(_ context.Context, question string) json.RawMessage {
		b.calls.Add(1)
		time.Sleep(100 * time.Millisecond)
		return json.RawMessage(answers(question))
	}})
	return b.run(name, d)
}

// run has a desk answer, and exchange what it says.
func (b *board) run(name string, d *inquiry.Desk) *inquiry.Desk {
	b.all.Go(func() { d.Run(b.ctx) })
	b.exchange(name, d)
	b.all.Go(func() {
		for pause := time.Second; ; pause = time.Second {
			if d.Waiting() {
				pause = 250 * time.Millisecond
			}
			select {
			case <-b.ctx.Done():
				return
			case <-d.Changed():
			case <-time.After(pause):
			}
			b.exchange(name, d)
		}
	})
	return d
}

const room = 24 << 10

func (b *board) exchange(name string, d *inquiry.Desk) {
	raw, err := json.Marshal(d.Say(room))
	if err != nil || len(raw) > room {
		b.Errorf("%s says %d bytes, %v", name, len(raw), err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes[name] = raw
	others := map[string]inquiry.Said{}
	for other, note := range b.notes {
		var s inquiry.Said
		if err := json.Unmarshal(note, &s); err != nil {
			b.Errorf("%s: %v", other, err)
		}
		if other != name {
			others[other] = s
		}
	}
	d.Hear(others)
}

// add adds a node that says no more than a note.
func (b *board) add(name, note string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes[name] = []byte(note)
}

// asks asks, and returns the answers in the order of the nodes.
func (b *board) asks(d *inquiry.Desk, question string) (answers, silent []string, took time.Duration) {
	start := time.Now()
	got, silent := d.Ask(b.ctx, question, nil)
	for _, a := range got {
		answers = append(answers, a.Node+": "+string(a.Data))
	}
	slices.Sort(answers)
	return answers, silent, time.Since(start)
}

func (b *board) wantSame(what string, got, want any) {
	b.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func echo(question string) string { return fmt.Sprintf("%q", question) }

// TestAsk: all other nodes answer within seconds, each once.
func TestAsk(t *testing.T) {
	inBoard(t, func(b *board) {
		outside := inquiry.New(inquiry.Config{})
		answers, silent, took := b.asks(outside, "without a fleet")
		if len(answers)+len(silent) > 0 || took > 0 {
			t.Errorf("without a fleet: %v, %v after %s", answers, silent, took)
		}
		d := b.node("a", echo)
		answers, silent, took = b.asks(d, "alone")
		if len(answers)+len(silent) > 0 || took > 0 {
			t.Errorf("alone: %v, %v after %s", answers, silent, took)
		}
		time.Sleep(2 * time.Second) // the question has left its note
		b.node("b", echo)
		c := b.node("c", echo) // which a hasn't heard of yet
		answers, silent, took = b.asks(d, "who?")
		b.wantSame("answers", answers, []string{`host of b: "who?"`, `host of c: "who?"`})
		if silent != nil || took > 1500*time.Millisecond {
			t.Errorf("silent: %v, after %s", silent, took)
		}
		answers, _, _ = b.asks(c, "and who?")
		b.wantSame("another's answers", answers, []string{`host of a: "and who?"`, `host of b: "and who?"`})
		time.Sleep(10 * time.Second)
		b.wantSame("calls for two questions", b.calls.Load(), int64(4))
		b.mu.Lock()
		defer b.mu.Unlock()
		for name, note := range b.notes {
			var left inquiry.Said
			if err := json.Unmarshal(note, &left); err != nil || left.Desk == "" {
				t.Errorf("%s says %s, %v", name, note, err)
			}
			left.Desk = ""
			b.wantSame("what is left", left, inquiry.Said{Name: "host of " + name})
		}
	})
}

// TestSilent: nodes that don't answer are named after four seconds, and cost no answer of the others.
func TestSilent(t *testing.T) {
	inBoard(t, func(b *board) {
		d := b.node("a", echo)
		b.node("b", echo)
		b.node("long", func(string) string { return `"` + strings.Repeat("x", inquiry.MostAnswer) + `"` })
		b.node("broken", func(string) string { return `{` })
		b.add("dead", `{"name":"host of dead"}`)
		b.add("old", `{"runs":"another version"}`)
		time.Sleep(2 * time.Second)
		answers, silent, took := b.asks(d, "who?")
		b.wantSame("answers", answers, []string{`host of b: "who?"`})
		b.wantSame("silent", silent, []string{"host of broken", "host of dead", "host of long", "old"})
		b.wantSame("took", took, 4*time.Second)

		ctx, cancel := context.WithTimeout(b.ctx, time.Second)
		defer cancel()
		start := time.Now()
		d.Ask(ctx, "who?", nil)
		b.wantSame("an impatient question took", time.Since(start), time.Second)
		b.wantSame("questions are still open", d.Waiting(), false)
	})
}

// TestManyQuestions: as many as have room are open at a time, the others wait, and all end within their time.
func TestManyQuestions(t *testing.T) {
	inBoard(t, func(b *board) {
		d := b.node("a", echo)
		b.node("b", func(q string) string { return `"` + q + strings.Repeat("x", inquiry.MostAnswer-100) + `"` })
		time.Sleep(2 * time.Second)
		var answered, silent atomic.Int64
		var all sync.WaitGroup
		start := time.Now()
		for i := range 12 {
			all.Go(func() {
				question := fmt.Sprintf("question %02d ", i)
				got, without := d.Ask(b.ctx, question, nil)
				for _, a := range got {
					answered.Add(1)
					if !strings.HasPrefix(string(a.Data), `"`+question) {
						t.Errorf("the answer to %s: %.20s", question, a.Data)
					}
				}
				silent.Add(int64(len(without)))
			})
		}
		all.Wait()
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("they took %s", took)
		}
		if answered.Load() < 4 || answered.Load()+silent.Load() != 12 {
			t.Errorf("%d are answered, %d not, of 12", answered.Load(), silent.Load())
		}
	})
}

// TestEnough: the first answer that is enough ends a question, no node is missing then, and one that still searches for it
// gives up and answers the next question.
func TestEnough(t *testing.T) {
	inBoard(t, func(b *board) {
		d := b.node("a", echo)
		begun := make(chan struct{})
		begin := sync.OnceFunc(func() { close(begun) })
		b.node("b", func(question string) string {
			<-begun
			return echo(question)
		})
		var gaveUp []time.Duration
		b.run("slow", inquiry.New(inquiry.Config{Name: "host of slow", AnswerFunc: func(ctx context.Context, question string) json.RawMessage {
			if question == "next" {
				return json.RawMessage(`"soon"`)
			}
			start := time.Now()
			begin()
			<-ctx.Done()
			gaveUp = append(gaveUp, time.Since(start))
			return nil
		}}))
		time.Sleep(2 * time.Second)
		start := time.Now()
		answers, silent := d.Ask(b.ctx, "who?", func(a inquiry.Answer) bool { return string(a.Data) == `"who?"` })
		took := time.Since(start)
		if len(answers) != 1 || silent != nil || took > 2500*time.Millisecond {
			t.Errorf("%d answers, silent: %v, after %s", len(answers), silent, took)
		}
		next, silent, took := b.asks(d, "next")
		b.wantSame("next", next, []string{`host of b: "next"`, `host of slow: "soon"`})
		if silent != nil || took > 2500*time.Millisecond {
			t.Errorf("the next is answered after %s, silent: %v", took, silent)
		}
		if len(gaveUp) != 1 || gaveUp[0] > 2*time.Second {
			t.Errorf("the search was given up after %s", gaveUp)
		}

		start = time.Now()
		_, silent = d.Ask(b.ctx, "who?", func(inquiry.Answer) bool { return false })
		b.wantSame("none is enough: took", time.Since(start), 4*time.Second)
		b.wantSame("none is enough: silent", silent, []string{"host of slow"})
	})
}

// TestRenamed: a node that has another name, while its last note under the old one is still there, is asked once and
// doesn't ask itself.
func TestRenamed(t *testing.T) {
	inBoard(t, func(b *board) {
		d := b.node("a", echo)
		b.node("b", echo)
		b.mu.Lock()
		b.notes["a before"], b.notes["b before"] = b.notes["a"], b.notes["b"]
		b.mu.Unlock()
		time.Sleep(2 * time.Second)
		answers, silent, took := b.asks(d, "who?")
		b.wantSame("answers", answers, []string{`host of b: "who?"`})
		if silent != nil || took > 1500*time.Millisecond {
			t.Errorf("silent: %v, after %s", silent, took)
		}
	})
}
