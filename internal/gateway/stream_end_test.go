package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/task"
)

// TestStreamCanceled cancels in the middle: the delivered text is paid for, no more, and the reservation if no text
// was delivered. A stream that lags behind is told no more than another was.
func TestStreamCanceled(t *testing.T) {
	s := speak("eight by", "te words", " and one", " more...")
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)}, func(w *world) {
		unheard := w.open("canceled-1", chat)
		got := w.cancel(w.g, unheard.Task.ID)
		if got.State != task.Canceled || got.Usage != nil || got.Cost != got.Reserved || got.Cost == 0 {
			t.Errorf("canceled unheard: %+v, %s of %s", got.Usage, got.Cost, got.Reserved)
		}
		hear(w.t, unheard.Stream).expect(t, "running", "canceled")

		a := w.open("canceled-2", chat)
		time.Sleep(500 * time.Millisecond)
		lagging := w.follow(a.Task.ID)
		time.AfterFunc(2*time.Second, func() { w.cancel(w.g, a.Task.ID) })
		heard := hear(w.t, a.Stream)
		heard.expect(t, "running", "+eight by", "+te words", "+ and one", "canceled")
		input := int64(len(`{"prompt":"hello"}`)+3) / 4
		want := task.Usage{InputTokens: input, OutputTokens: 6}
		if diff := cmp.Diff(&want, heard.Last.Usage); diff != "" || heard.Last.Cost != task.Money(input+6)*task.USD/1_000_000 {
			t.Errorf("it costs %s (-want +got):\n%s", heard.Last.Cost, diff)
		}
		hear(w.t, lagging).expect(t, "running", "+eight byte words and one", "canceled")
		if got := w.get(a.Task.ID).Attempts[0]; got.State != task.UnknownOutcome || !got.CostUnknown {
			t.Errorf("the ledger says %+v", got)
		}
	})
}

// TestStreamHangUp has every caller leave: the task ends all the same, is charged, and its text is told
// in full to who comes back.
func TestStreamHangUp(t *testing.T) {
	s := speak("Once ", "upon ", "a ", "time.")
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)}, func(w *world) {
		ctx, hangUp := context.WithCancel(w.t.Context())
		a, err := w.g.Create(ctx, w.caller, gateway.Submission{IdempotencyKey: "hang-up-01", Body: []byte(chat), Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		hangUp()
		for {
			if _, err = a.Stream.Next(ctx, time.Hour); err != nil {
				break
			}
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the stream ends with %v", err)
		}
		a.Stream.Close()
		time.Sleep(1500 * time.Millisecond)
		hear(w.t, w.follow(a.Task.ID)).expect(t, "running", "+Once upon ", "+a ", "+time.", "succeeded")
		w.expectSent(s.script, a.Task.ID+"/1")
	})
}

// TestStreamSlowReader says more than a reader takes: the worker doesn't wait, and the reader gets all
// of it in pieces of bounded size that are whole characters.
func TestStreamSlowReader(t *testing.T) {
	word := strings.Repeat("ä€😀", 1000)
	s := speak(word, word, word, word, word, word, word)
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)}, func(w *world) {
		start := time.Now()
		a := w.open("slow-reader", chat)
		end := w.end(a.Task.ID)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("the task took %s", took)
		}
		heard := hear(w.t, a.Stream)
		if heard.text() != *end.Output.Text() {
			t.Error("the pieces aren't the text")
		}
		for _, told := range heard.Told {
			if len(told) > 16<<10+1 || strings.ToValidUTF8(told, "") != told {
				t.Errorf("a piece of %d bytes", len(told))
			}
		}
	})
}

// TestStreamShutdown stops the node: work within the grace is told to its end, other work isn't.
func TestStreamShutdown(t *testing.T) {
	s := speak("Once ", "upon ", "a ", "time.")
	j := jobs{&script{submitFn: job("j"), pollFn: goesOn}}
	routes := []routing.Route{route("text.chat", "a", task.USD, s), route("image.generate", "a", task.USD, j)}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, routes)
		w.start()
		speech, drawn := w.open("shutdown-1", chat), w.open("shutdown-2", paint)
		told := make(chan story, 2)
		go func() { told <- hear(w.t, drawn.Stream) }()
		time.Sleep(1500 * time.Millisecond)
		stopped := make(chan struct{})
		go func() { w.stop(); close(stopped) }()
		if got := <-told; got.Last.State != task.Running {
			t.Errorf("the picture's stream told %v", got.Told)
		}
		hear(w.t, speech.Stream).expect(t, "running", "+Once upon ", "+a ", "+time.", "succeeded")
		<-stopped
	})
}

func TestFollowUnknown(t *testing.T) {
	inWorld(t, []routing.Route{route("text.chat", "a", 1, speak("a"))}, func(w *world) {
		stranger := w.caller
		id := w.create("mine-00001", chat, time.Minute).Task.ID
		stranger.Account.ID = "acct_other"
		for _, id := range []string{id, "task_nothing"} {
			if _, err := w.g.Follow(w.t.Context(), stranger, id, nil); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}
