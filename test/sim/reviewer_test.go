package sim_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"unitask/internal/fault"
	"unitask/internal/policy"
	"unitask/internal/supplier"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// reviewerName is the moderation supplier's, in the ledger.
const reviewerName = "reviewer"

// reviewer is the moderation supplier as one node reaches it.
type reviewer struct{ client }

// reviews is the moderation supplier's own record. It outlives every crash of the service.
type reviews struct {
	mu    sync.Mutex
	asked map[string]int64 // questions that arrived, by task
	clean map[string]bool  // the tasks whose texts were found to be clean, whether the answer arrived or not
}

// policy returns the operator's rules, as the seed decides; nil without any.
func (n *node) policy() *policy.Policy {
	s := n.w.shape.review
	if s == unreviewed {
		return nil
	}
	f := simSupplier{name: reviewerName}
	return &policy.Policy{Moderation: &policy.Moderation{
		Supplier: reviewerName, Model: "one", Adapter: reviewer{client{n, f}}, Price: tokens(1), AllowFailed: s == lenient,
	}}
}

// flagged reports whether the reviewer objects to the texts of the task.
func (w *world) flagged(key string) bool { return oneIn(w.choices.of("verdict", key, 0), 12) }

// Moderate judges the prompt. A planted fault finds a prompt clean if the supplier couldn't be asked.
func (r reviewer) Moderate(ctx context.Context, _ string, texts []string) ([]supplier.Judgement, error) {
	judged, err := r.judge(ctx, strings.TrimPrefix(texts[0], promptOf("")))
	if err != nil && r.n.w.planted.trusts {
		return make([]supplier.Judgement, 1), nil
	}
	return judged, err
}

// judge asks through a network, with the suppliers' failures.
func (r reviewer) judge(ctx context.Context, key string) ([]supplier.Judgement, error) {
	w := r.n.w
	w.reviews.mu.Lock()
	w.reviews.asked[key]++
	rng := w.choices.of("review", key, w.reviews.asked[key])
	w.reviews.mu.Unlock()
	r.n.crashPoint(beforeSubmit)
	if err := r.travel(ctx, between(rng, time.Millisecond, 300*time.Millisecond)); err != nil {
		return nil, supplier.NewError(supplier.NotSent, fault.ProviderTimeout, "too late", err)
	}
	if n := rng.IntN(100); !w.calm.Load() && n < 10 {
		return nil, refused(supplier.Refused, fault.CapacityExhausted)
	}
	judged := []supplier.Judgement{{Flagged: w.flagged(key), Categories: []string{"violence"}}}
	if !judged[0].Flagged {
		w.reviews.mu.Lock()
		w.reviews.clean[key] = true
		w.reviews.mu.Unlock()
	}
	r.n.crashPoint(afterSubmit)
	switch n := rng.IntN(100); {
	case r.n.dead.Load():
		return nil, lost(fault.ProviderUnavailable)
	case w.calm.Load():
	case n < 6:
		return nil, lost(fault.ProviderUnavailable)
	case n < 9:
		_ = r.travel(ctx, exchangeTime)
		return nil, lost(fault.ProviderTimeout)
	case n < 10:
		panic("an adapter's mistake")
	}
	return judged, nil
}

// unseen is the rule that no work goes to a supplier before its texts were found to be clean.
const unseen invariant.Rule = "unseen"

// checkReviews checks the run against unseen, by the ledger and by the reviewer's own record. If the operator
// allows it, three questions without an answer will do.
func (w *world) checkReviews(o invariant.Observation) (broken []invariant.Violation) {
	if w.shape.review == unreviewed {
		return nil
	}
	add := func(key, format string, args ...any) {
		broken = append(broken, invariant.Violation{Rule: unseen, Key: key, Detail: fmt.Sprintf(format, args...)})
	}
	modes := map[string]task.Mode{}
	for _, r := range w.records {
		modes[r.seen.Key] = r.customer.scope.Mode
	}
	for _, s := range o.Submissions {
		if modes[s.Key] == task.Live && w.shape.review == strict && !w.reviews.clean[s.Key] {
			add(s.Key, "submitted to %s, and never found to be clean", s.Supplier)
		}
	}
	for _, t := range o.Tasks {
		clean, failures := modes[t.Key] != task.Live, 0
		for _, a := range t.Ledger.Attempts {
			switch {
			case a.Moderation && modes[t.Key] != task.Live:
				add(t.Key, "a test task was reviewed")
			case a.Moderation && a.State == task.OK:
				clean = !w.flagged(t.Key)
			case a.Moderation && a.State == task.FailedAttempt:
				failures++
			case !a.Moderation && !clean && (w.shape.review == strict || failures < 3):
				add(t.Key, "attempt %d follows %d failed questions and no clean verdict", a.N, failures)
			}
		}
	}
	return broken
}
