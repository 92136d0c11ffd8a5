package account

import "time"

// MaxKeepInputs bounds Account.KeepInputs, in days.
const MaxKeepInputs = 30

// keepLag is for how long after a change of an account its nodes may still record tasks as before: a request is judged
// as it comes, and its body may take minutes.
const keepLag = 10 * time.Minute

// Forget shortens the time of requests that are kept already: those of tasks created before Before are kept for Days
// days at most, whatever was promised when they came.
type Forget struct {
	Before time.Time `json:"before"`
	Days   int       `json:"days"`
}

// Keep returns how long the requests of new tasks are kept; 0: not at all.
func (a Account) Keep() time.Duration { return days(a.KeepInputs) }

// Keeping returns the account that keeps the requests of new tasks for so many days. Fewer than before hold for all that
// are kept; more hold for new tasks alone. Of several lowerings under way the shortest holds for all tasks up to the last.
func (a Account) Keeping(n int, now time.Time) Account {
	if n < a.KeepInputs {
		f := Forget{Before: now.Round(0).UTC().Add(keepLag), Days: n}
		if a.Forgets != nil {
			f.Days = min(f.Days, a.Forgets.Days)
		}
		a.Forgets = &f
	}
	a.KeepInputs = n
	return a
}

// Until returns the time before which created tasks have lost their requests at now.
func (f Forget) Until(now time.Time) time.Time {
	if end := now.Add(-days(f.Days)); end.Before(f.Before) {
		return end
	}
	return f.Before
}

// Lost reports whether the request of a task that was created then is over at now. A nil Forget takes no request away.
func (f *Forget) Lost(created, now time.Time) bool { return f != nil && created.Before(f.Until(now)) }

// Done reports whether all requests that the lowering concerns are over at now.
func (f Forget) Done(now time.Time) bool { return !f.Until(now).Before(f.Before) }

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
