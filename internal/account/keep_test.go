package account_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
)

// TestKeeping: a lower number of days holds for kept requests, a higher one doesn't.
func TestKeeping(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	before := func(after time.Duration, days int) *account.Forget {
		return &account.Forget{Before: now.Add(after + 10*time.Minute), Days: days}
	}
	a := account.Account{ID: "acct_1"}
	for _, step := range []struct {
		days  int
		after time.Duration
		want  *account.Forget
	}{
		{7, 0, nil},
		{7, time.Hour, nil},
		{30, 2 * time.Hour, nil},
		{7, 3 * time.Hour, before(3*time.Hour, 7)},
		{30, 4 * time.Hour, before(3*time.Hour, 7)},
		{14, 5 * time.Hour, before(5*time.Hour, 7)}, // the week holds on
		{0, 6 * time.Hour, before(6*time.Hour, 0)},
	} {
		a = a.Keeping(step.days, now.Add(step.after))
		if diff := cmp.Diff(account.Account{ID: "acct_1", KeepInputs: step.days, Forgets: step.want}, a); diff != "" {
			t.Errorf("%d days after %v (-want +got):\n%s", step.days, step.after, diff)
		}
	}
}

// TestLost: a task's request is lost once it is as old as the lowering says, and one of a later task isn't.
func TestLost(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	week := &account.Forget{Before: now, Days: 7}
	for _, tt := range []struct {
		forget      *account.Forget
		created, at time.Duration
		want        bool
	}{
		{nil, -29 * day, 0, false},
		{week, -8 * day, 0, true},
		{week, -7 * day, 0, false},
		{week, -6 * day, 0, false},
		{week, -6 * day, 2 * day, true},
		{week, 0, 29 * day, false},
		{&account.Forget{Before: now}, -time.Second, -time.Millisecond, true},
		{&account.Forget{Before: now}, -time.Second, time.Second, true},
		{&account.Forget{Before: now}, 0, time.Second, false},
	} {
		if got := tt.forget.Lost(now.Add(tt.created), now.Add(tt.at)); got != tt.want {
			t.Errorf("%+v: created after %v, at %v: lost is %v", tt.forget, tt.created, tt.at, got)
		}
	}
	for after, want := range map[time.Duration]bool{0: false, 7*day - 1: false, 7 * day: true} {
		if got := week.Done(now.Add(after)); got != want {
			t.Errorf("done after %v: %v", after, got)
		}
	}
}
