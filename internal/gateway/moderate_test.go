package gateway_test

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/policy"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// reviewer is a moderation supplier that flags the word "forbidden", after as many failures as its test
// says.
type reviewer struct {
	mu    sync.Mutex
	asked []string // the texts of each question, joined
	takes time.Duration
	fails int
	sent  supplier.Sent
}

func (r *reviewer) Moderate(ctx context.Context, _ string, texts []string) ([]supplier.Judgement, error) {
	r.mu.Lock()
	r.asked = append(r.asked, strings.Join(texts, "|"))
	failing := len(r.asked) <= r.fails
	r.mu.Unlock()
	select {
	case <-time.After(r.takes):
	case <-ctx.Done():
		return nil, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "cut short", ctx.Err())
	}
	if failing {
		return nil, supplier.NewError(r.sent, fault.ProviderUnavailable, "as the test says", nil)
	}
	judged := make([]supplier.Judgement, len(texts))
	for i, text := range texts {
		if strings.Contains(text, "forbidden") {
			judged[i] = supplier.Judgement{Flagged: true, Categories: []string{"violence"}}
		}
	}
	return judged, nil
}

func (r *reviewer) questions() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.asked...)
}

// reviewed is a policy with this reviewer, who takes a dollar for a million tokens.
func reviewed(r *reviewer, allowFailed bool) *policy.Policy {
	return &policy.Policy{Moderation: &policy.Moderation{
		Supplier: "reviewer", Model: "r", Adapter: r, AllowFailed: allowFailed,
		Price: task.Price{Unit: task.PerMillionTokens, Input: task.USD},
	}}
}

// inReview runs a test with one route, in whose world the reviewer is asked first.
func inReview(t *testing.T, p *policy.Policy, r routing.Route, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{r})
		w.policy = p
		w.start()
		defer func() { w.stop() }()
		f(w)
	})
}

const forbidden = `{"capability":"text.chat","input":{"messages":[{"role":"user","content":"hello"},{"role":"user","content":"forbidden"}]}}`

// The rows of the ledger: a question about "hello", of two tokens, and the work.
var (
	passed     = attemptOutcome{"reviewer", task.OK, "", 2000, false}
	unheard    = attemptOutcome{"reviewer", task.FailedAttempt, fault.ProviderUnavailable, 0, true}
	turnedAway = attemptOutcome{"reviewer", task.FailedAttempt, fault.ProviderUnavailable, 0, false}
	worked     = attemptOutcome{"a", task.OK, "", 30_000, false}
)

// succeeded is the outcome of a task with this ledger.
func succeeded(ledger ...attemptOutcome) outcome { return outcome{task.Succeeded, "", 30_000, ledger} }

// TestModeration asks before the work begins, and records each question with its price.
func TestModeration(t *testing.T) {
	for name, tt := range map[string]struct {
		body  string
		fails int
		sent  supplier.Sent
		allow bool
		want  outcome
		asked []string
	}{
		"passes":                     {chat, 0, "", false, succeeded(passed, worked), []string{"hello"}},
		"is flagged":                 {forbidden, 0, "", false, outcome{task.Failed, fault.ContentPolicyViolation, 0, []attemptOutcome{{"reviewer", task.OK, "", 5000, false}}}, []string{"hello|forbidden"}},
		"fails twice":                {chat, 2, supplier.Refused, false, succeeded(turnedAway, turnedAway, passed, worked), []string{"hello", "hello", "hello"}},
		"can't be asked":             {chat, 9, supplier.Unknown, false, outcome{task.Failed, fault.ProviderUnavailable, 0, []attemptOutcome{unheard, unheard, unheard}}, []string{"hello", "hello", "hello"}},
		"can't be asked and needn't": {chat, 9, supplier.NotSent, true, succeeded(turnedAway, turnedAway, turnedAway, worked), []string{"hello", "hello", "hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := &script{submitFn: answer("here")}, &reviewer{fails: tt.fails, sent: tt.sent}
			inReview(t, reviewed(r, tt.allow), route("text.chat", "a", task.USD, s), func(w *world) {
				got := w.create("moderated-1", tt.body, time.Minute).Task
				w.expect(got, tt.want)
				if diff := cmp.Diff(tt.asked, r.questions()); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
				sent := []string{}
				if got.State == task.Succeeded {
					sent = []string{task.SubmitKey(got.ID, len(got.Attempts))}
				}
				w.expectSent(s, sent...)
				if got.Attempts[0].Reason == "" || !got.Attempts[0].Moderation {
					t.Errorf("the ledger's first row: %+v", got.Attempts[0])
				}
			})
		})
	}
}

// TestModerationOfJobs asks about asynchronous work once it runs, also if the first answers fail.
func TestModerationOfJobs(t *testing.T) {
	s, r := jobs{&script{submitFn: job("j"), pollFn: done(t)}}, &reviewer{fails: 2, sent: supplier.Unknown}
	inReview(t, reviewed(r, false), route("image.generate", "a", task.USD, s), func(w *world) {
		got := w.end(w.create("moderated-2", paint, 0).Task.ID)
		two := attemptOutcome{"reviewer", task.OK, "", 2000, false}
		w.expect(got, outcome{task.Succeeded, "", task.USD, []attemptOutcome{unheard, unheard, two, {"a", task.OK, "", task.USD, false}}})
		if diff := cmp.Diff(wholeLife, publicStates(got)); diff != "" {
			t.Errorf("timeline (-want +got):\n%s", diff)
		}
	})
}

// TestFlaggedFieldIsNamed: the caller reads which text was refused, the operator why.
func TestFlaggedFieldIsNamed(t *testing.T) {
	inReview(t, reviewed(&reviewer{}, false), route("text.chat", "a", task.USD, &script{}), func(w *world) {
		got := w.create("moderated-3", forbidden, time.Minute).Task
		want := task.Failure{
			Code: fault.ContentPolicyViolation, Message: "input.messages.1.content was refused by review",
			Details: []fault.Detail{{Field: "input.messages.1.content", Message: "was refused by review"}},
		}
		if diff := cmp.Diff(want, *got.Failure); diff != "" {
			t.Errorf("the caller reads (-want +got):\n%s", diff)
		}
		if reason := got.Attempts[0].Reason; !strings.HasSuffix(reason, "; flagged: violence") {
			t.Errorf("the operator reads %q", reason)
		}
	})
}

// TestModerationIsAskedAgain restarts while the supplier is asked: the question is repeated, the work is
// submitted once.
func TestModerationIsAskedAgain(t *testing.T) {
	s, r := &script{submitFn: painted(t)}, &reviewer{takes: time.Minute} // longer than the grace
	inReview(t, reviewed(r, false), route("image.generate", "a", task.USD, s), func(w *world) {
		id := w.create("moderated-4", paint, 0).Task.ID
		time.Sleep(5 * time.Second)
		w.stop()
		w.store.Restart()
		w.start()
		two := attemptOutcome{"reviewer", task.OK, "", 2000, false}
		w.expect(w.end(id), outcome{task.Succeeded, "", task.USD, []attemptOutcome{two, {"a", task.OK, "", task.USD, false}}})
		w.expectSent(s, id+"/2")
		if n := len(r.questions()); n != 2 {
			t.Errorf("asked %d times, want 2", n)
		}
	})
}

// TestModerationIsCutShort ends a task while the supplier is asked: no other request is sent, and the ledger has the
// question's possible cost.
func TestModerationIsCutShort(t *testing.T) {
	for name, tt := range map[string]struct {
		during func(w *world, id string)
		want   outcome
	}{
		"canceled": {
			func(w *world, id string) { w.cancel(w.g, id) },
			outcome{task.Canceled, "", 0, []attemptOutcome{{"reviewer", task.FailedAttempt, "", 0, true}}},
		},
		"past its deadline": {
			func(*world, string) {},
			outcome{task.Failed, fault.ProviderTimeout, 0, []attemptOutcome{{"reviewer", task.FailedAttempt, fault.ProviderTimeout, 0, true}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{submitFn: answer("here")}
			inReview(t, reviewed(&reviewer{takes: 100 * time.Hour}, true), route("text.chat", "a", task.USD, s), func(w *world) {
				id := w.create("moderated-5", chat, time.Second).Task.ID
				tt.during(w, id)
				w.expect(w.end(id), tt.want)
				w.expectSent(s)
			})
		})
	}
}

// TestReopenedTaskIsModeratedAgain, but for work that may have been done: that is settled first.
func TestReopenedTaskIsModeratedAgain(t *testing.T) {
	lost := func(n int, r supplier.Request) (supplier.Outcome, error) {
		if n == 1 {
			return refuse(supplier.Unknown, fault.ProviderTimeout)(n, r)
		}
		return text("here"), nil
	}
	unknown := attemptOutcome{"a", task.UnknownOutcome, fault.ProviderTimeout, 0, true}
	honours, neither := keyed{jobs{&script{submitFn: lost}}}, &script{submitFn: lost}
	for name, tt := range map[string]struct {
		adapter supplier.Adapter
		sent    *script
		keys    []string
		ledger  []attemptOutcome
	}{
		"honours a key": {honours, honours.script, []string{"/2", "/2"}, []attemptOutcome{passed, worked}},
		"neither":       {neither, neither, []string{"/2", "/4"}, []attemptOutcome{passed, unknown, passed, worked}},
	} {
		t.Run(name, func(t *testing.T) {
			inReview(t, reviewed(&reviewer{}, false), route("text.chat", "a", task.USD, tt.adapter), func(w *world) {
				id := w.create("moderated-6", chat, time.Minute).Task.ID
				again := w.create("moderated-6", chat, time.Minute).Task
				w.expect(again, succeeded(tt.ledger...))
				w.expectSent(tt.sent, id+tt.keys[0], id+tt.keys[1])
				if last := again.Attempts[len(again.Attempts)-1]; len(tt.ledger) == 4 && !strings.Contains(last.Reason, "attempt 2 is of unknown outcome") {
					t.Errorf("the ledger says %q", last.Reason)
				}
			})
		})
	}
}

// TestUnmoderated: test keys, other capabilities, texts without a word and a policy without a supplier aren't
// moderated.
func TestUnmoderated(t *testing.T) {
	scoped := reviewed(&reviewer{}, false)
	scoped.Moderation.Capabilities = []string{"image.*"}
	for name, p := range map[string]*policy.Policy{"another capability": scoped, "no supplier": {}, "no policy": nil} {
		t.Run(name, func(t *testing.T) {
			inReview(t, p, route("text.chat", "a", task.USD, &script{submitFn: answer("here")}), func(w *world) {
				w.expect(w.create("unmoderated", chat, time.Minute).Task, succeeded(worked))
			})
		})
	}
	t.Run("a test key", func(t *testing.T) {
		r := route("text.chat", "a", task.USD, &script{submitFn: answer("here")})
		r.Mode = task.Test
		inReview(t, reviewed(&reviewer{}, false), r, func(w *world) {
			w.caller.Key.Mode = task.Test
			w.expect(w.create("unmoderated", chat, time.Minute).Task, outcome{task.Succeeded, "", 0, []attemptOutcome{worked}})
		})
	})
	t.Run("pictures alone", func(t *testing.T) {
		r := &reviewer{}
		inReview(t, reviewed(r, false), route("audio.transcribe", "a", task.USD, &script{submitFn: answer("here")}), func(w *world) {
			w.fetcher = &fetcher{data: mustPNG(t)}
			w.create("unmoderated", `{"capability":"audio.transcribe","input":{"audio":{"url":"https://example.com/forbidden"}}}`, time.Minute)
			if n := len(r.questions()); n != 0 {
				t.Errorf("asked %d times about an address", n)
			}
		})
	})
}

// TestContentRules refuses by the operator's patterns before anything is recorded, and takes new rules up while it
// runs. A recorded task is replayed whatever the rules say now; a reopening isn't.
func TestContentRules(t *testing.T) {
	rule := func(pattern string, capabilities ...string) *policy.Policy {
		return &policy.Policy{Rules: []policy.Rule{{Name: "r", Pattern: regexp.MustCompile(pattern), Capabilities: capabilities}}}
	}
	s := &script{submitFn: refuse(supplier.Refused, fault.Internal)}
	inReview(t, rule("(?i)HELLO"), route("text.chat", "a", task.USD, s), func(w *world) {
		refused := func(key, body string) bool {
			t.Helper()
			_, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: key, Body: []byte(body)})
			if err != nil && fault.CodeOf(err) != fault.ContentPolicyViolation {
				t.Fatal(err)
			}
			return err != nil
		}
		if !refused("ruled-out-1", chat) {
			t.Error("a text that a rule matches is taken")
		}
		w.rules(rule("(?i)HELLO", "image.*"))
		if refused("ruled-out-1", chat) {
			t.Error("a rule for images refuses a text, or something was recorded")
		}
		w.rules(rule("hello"))
		if !refused("ruled-out-1", chat) {
			t.Error("a reopening passes no rule")
		}
		s.submitFn = answer("here")
		w.rules(nil)
		if refused("ruled-out-1", chat) || refused("ruled-out-2", chat) {
			t.Error("no rule refuses")
		}
		w.rules(rule("hello"))
		if refused("ruled-out-1", chat) || refused("ruled-out-2", chat) {
			t.Error("a replay passes a rule")
		}
	})
}

// rules has the gateway take up another policy.
func (w *world) rules(p *policy.Policy) {
	w.t.Helper()
	w.policy = p
	w.apply(w.limits, w.routes...)
}

// TestModerationSaysNothingAboutARoute asks a supplier in vain that is the work's route too: it gets the work
// all the same.
func TestModerationSaysNothingAboutARoute(t *testing.T) {
	p := reviewed(&reviewer{fails: 9, sent: supplier.Refused}, true)
	p.Moderation.Supplier, p.Moderation.Model = "a", "m"
	turned := attemptOutcome{"a", task.FailedAttempt, fault.ProviderUnavailable, 0, false}
	inReview(t, p, route("text.chat", "a", task.USD, &script{submitFn: answer("here")}), func(w *world) {
		w.expect(w.create("moderated-7", chat, time.Minute).Task, succeeded(turned, turned, turned, worked))
	})
}
