package gateway_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// market is three priced suppliers of text, each with a switch for its answer.
type market struct {
	*world
	n                int
	cheap, mid, dear *script
}

// inMarket runs a test with suppliers at 1, 2 and 3 USD, two places at each.
func inMarket(t *testing.T, limits routing.Rate, f func(m *market)) {
	t.Helper()
	m := &market{cheap: &script{}, mid: &script{}, dear: &script{}}
	var routes []routing.Route
	for i, s := range []*script{m.cheap, m.mid, m.dear} {
		name := []string{"cheap", "mid", "dear"}[i]
		s.submitFn = answer(name)
		r := route("text.chat", name, task.Money(i+1)*task.USD, s)
		r.Cap, r.Rate = 2, limits
		routes = append(routes, r)
	}
	inWorld(t, routes, func(w *world) {
		m.world = w
		f(m)
	})
}

// ask submits a new request and doesn't wait for its end.
func (m *market) ask() string {
	m.n++
	return m.create("market-key-"+strconv.Itoa(m.n), chat, 0).Task.ID
}

// decision is who has a task's last attempt, why, and why those before it haven't.
type decision struct {
	Supplier, Reason string
	Passed           []task.Passed
}

func (m *market) expectDecision(id, name, reason string, passed ...task.Passed) {
	m.t.Helper()
	time.Sleep(time.Millisecond)
	got := decision{}
	if attempts := m.get(id).Attempts; len(attempts) > 0 {
		a := attempts[len(attempts)-1]
		got = decision{a.Supplier, a.Reason, a.Passed}
	}
	if diff := cmp.Diff(decision{name, reason, passed}, got); diff != "" {
		m.t.Errorf("decision on request %d (-want +got):\n%s", m.n, diff)
	}
}

func passedOver(name, reason string, code fault.Code) task.Passed {
	return task.Passed{Supplier: name, Model: "m", Reason: reason, Code: code}
}

// The estimate of the request: 18 bytes in and 1,024 tokens out.
const (
	atCheap = "estimated 0.001042 USD"
	atMid   = "estimated 0.002084 USD"
	atDear  = "estimated 0.003126 USD"
)

// TestCheapestTakesAll sends one request after the other.
func TestCheapestTakesAll(t *testing.T) {
	inMarket(t, routing.Rate{}, func(m *market) {
		for range 20 {
			m.expectDecision(m.ask(), "cheap", atCheap)
		}
		m.expectSent(m.mid)
		m.expectSent(m.dear)
	})
}

// TestFullGoesToTheNext sends eight requests at once to suppliers of two places each; a task without room is refused,
// and its key later returns the result under the same id.
func TestFullGoesToTheNext(t *testing.T) {
	full := func(name string) task.Passed { return passedOver(name, "full", fault.CapacityExhausted) }
	inMarket(t, routing.Rate{}, func(m *market) {
		for _, s := range []*script{m.cheap, m.mid, m.dear} {
			s.takes = 10 * time.Second
		}
		for range 2 {
			m.expectDecision(m.ask(), "cheap", atCheap)
		}
		for range 2 {
			m.expectDecision(m.ask(), "mid", atMid, full("cheap"))
		}
		for range 2 {
			m.expectDecision(m.ask(), "dear", atDear, full("cheap"), full("mid"))
		}
		refused := m.create("market-all-full", chat, 5*time.Second).Task
		m.expect(refused, outcome{State: task.Failed, Code: fault.CapacityExhausted})
		time.Sleep(10 * time.Second)
		again := m.create("market-all-full", chat, 20*time.Second).Task
		if again.ID != refused.ID {
			t.Errorf("the same key has task %s, then %s", refused.ID, again.ID)
		}
		m.expect(again, outcome{task.Succeeded, "", 30_000, []attemptOutcome{{"cheap", task.OK, "", 30_000, false}}})
	})
}

// TestTrippedGoesToTheNextAndBackByTheProbe has the cheap supplier fail: the task itself goes on at the
// next one, and so do others until one request at a time finds it well again.
func TestTrippedGoesToTheNextAndBackByTheProbe(t *testing.T) {
	failing := passedOver("cheap", "tripped: failing", fault.ProviderUnavailable)
	probing := passedOver("cheap", routing.Probing, fault.ProviderUnavailable)
	inMarket(t, routing.Rate{}, func(m *market) {
		m.cheap.submitFn = refuse(supplier.Refused, fault.ProviderUnavailable)
		for range 5 {
			m.expectDecision(m.ask(), "mid", atMid, passedOver("cheap", "tried", ""))
		}
		m.expectDecision(m.ask(), "mid", atMid, failing)
		time.Sleep(10 * time.Second)
		m.expectDecision(m.ask(), "mid", atMid, passedOver("cheap", "tried", "")) // the probe failed
		m.expectDecision(m.ask(), "mid", atMid, failing)
		time.Sleep(10 * time.Second)
		m.cheap.submitFn, m.cheap.takes = answer("cheap"), time.Second
		m.expectDecision(m.ask(), "cheap", atCheap+"; the probe after tripped: failing")
		for range 3 {
			m.expectDecision(m.ask(), "mid", atMid, probing)
		}
		time.Sleep(time.Second)
		for range 2 {
			m.expectDecision(m.ask(), "cheap", atCheap)
		}
	})
}

// TestRetryAfterIsRespected has the cheap supplier refuse with a pause, then again with one of a
// thousand hours, which is followed for ten minutes.
func TestRetryAfterIsRespected(t *testing.T) {
	cooling := passedOver("cheap", "cooling down", fault.CapacityExhausted)
	resting := passedOver("cheap", "refused for want of room", fault.CapacityExhausted)
	slowDown := func(pause time.Duration) func(int, supplier.Request) (supplier.Outcome, error) {
		return func(int, supplier.Request) (supplier.Outcome, error) {
			e := supplier.NewError(supplier.Refused, fault.CapacityExhausted, "slow down", nil)
			e.RetryAfter = pause
			return supplier.Outcome{}, e
		}
	}
	inMarket(t, routing.Rate{}, func(m *market) {
		for i, pause := range []time.Duration{30 * time.Second, 10 * time.Minute} {
			m.cheap.submitFn = slowDown([]time.Duration{pause, 1000 * time.Hour}[i])
			m.expectDecision(m.ask(), "mid", atMid, resting)
			sent := len(m.cheap.keys())
			for end := time.Now().Add(pause - time.Second); time.Now().Before(end); time.Sleep(pause / 10) {
				m.expectDecision(m.ask(), "mid", atMid, cooling)
			}
			if now := len(m.cheap.keys()); now != sent {
				t.Errorf("%d requests went to a supplier that had asked for a pause of %s", now-sent, pause)
			}
			time.Sleep(pause / 10)
		}
		m.cheap.submitFn = answer("cheap")
		m.expectDecision(m.ask(), "cheap", atCheap+"; the probe after cooling down")
		m.expectDecision(m.ask(), "cheap", atCheap)
	})
}

// TestMinuteIsFull sends as many requests at once as a minute of the cheapest holds and one more, of
// estimates that are mostly given back.
func TestMinuteIsFull(t *testing.T) {
	for name, tt := range map[string]struct {
		rate   routing.Rate
		reason string
		first  int // requests that the cheapest takes
	}{
		"requests": {routing.Rate{Requests: 3}, "full: requests a minute", 3},
		"tokens":   {routing.Rate{Tokens: 1100}, "full: tokens a minute", 2}, // 1,042 estimated, 30 spent each
	} {
		t.Run(name, func(t *testing.T) {
			inMarket(t, tt.rate, func(m *market) {
				for range tt.first {
					m.expectDecision(m.ask(), "cheap", atCheap)
				}
				m.expectDecision(m.ask(), "mid", atMid, passedOver("cheap", tt.reason, fault.CapacityExhausted))
				time.Sleep(61 * time.Second)
				m.expectDecision(m.ask(), "cheap", atCheap)
			})
		})
	}
}

// TestJobsWaitForTheirMinute has a supplier take two films a minute, of five that come at once.
func TestJobsWaitForTheirMinute(t *testing.T) {
	var mu sync.Mutex // submissions of one minute come side by side
	var at []time.Duration
	start := time.Time{}
	s := jobs{&script{pollFn: done(t)}}
	s.submitFn = func(n int, r supplier.Request) (supplier.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Since(start).Truncate(time.Minute))
		return job("j")(n, r)
	}
	r := route("image.generate", "a", 1, s)
	r.SupplierRate.Requests = 2
	inWorld(t, []routing.Route{r}, func(w *world) {
		start = time.Now()
		var ids []string
		for i := range 5 {
			ids = append(ids, w.create("minute-"+strconv.Itoa(i)+"-key", paint, 0).Task.ID)
		}
		for _, id := range ids {
			w.expect(w.end(id), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
		}
		if diff := cmp.Diff([]time.Duration{0, 0, time.Minute, time.Minute, 2 * time.Minute}, at); diff != "" {
			t.Errorf("minutes of the submissions (-want +got):\n%s", diff)
		}
	})
}
