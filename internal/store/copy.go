package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"unitask/internal/account"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// Contents is all that a store keeps beside its tasks.
type Contents struct {
	Accounts []account.Account
	Keys     []account.Key // with their last use, to the microsecond
	Links    []account.Link
	Sessions []account.Session
	Secrets  []Secret
	Usage    []UsageChange // the sums
	Spend    []SpendChange // the sums
	Counters []Held

	Endpoints  []webhook.Endpoint
	Deliveries []Outgoing

	Epoch int64     // no lease of any task had a higher one
	Since time.Time // the creation of the oldest task; zero without tasks
}

// Secret is a secret of the service.
type Secret struct {
	Name  string
	Value []byte
}

// Held is the value of a counter of holds.
type Held struct {
	Counter
	Amount int64
	Ends   time.Time // when its time is over, to the microsecond; zero: never
}

// Source is a store at rest that is read to be copied. Sessions of nodes, leases, pauses and accounts' turns are no
// part of it: a copy goes on as a store does after a restart.
type Source interface {
	// Identity names the store in its present state: another store has another one, and so has this store once a node
	// has worked on it. An *UnfinishedError if it is itself a copy that isn't finished, an *InUseError while a node
	// works on it.
	Identity(ctx context.Context) (string, error)
	// Contents returns all but the tasks.
	Contents(ctx context.Context) (Contents, error)
	// Tasks yields the tasks with an id above the given one, by id, until the first error.
	Tasks(ctx context.Context, after string) iter.Seq2[task.Task, error]
	// Close frees the store.
	Close() error
}

// Target is a store that a copy is made into. It can't be opened for work until Release. Every method is one durable
// commit: a copy that was cut off goes on after the last one.
type Target interface {
	Source
	// Last returns the id of the last task that it has, "" without one; begun is false before PutContents.
	Last(ctx context.Context) (last string, begun bool, err error)
	PutContents(ctx context.Context, c Contents) error
	// PutTasks adds tasks, whose ids are above Last and ascend.
	PutTasks(ctx context.Context, tasks []task.Task) error
	// Finish completes the store after its last task. Only then can it be read as a Source. It may be called again.
	Finish(ctx context.Context) error
	// Release opens the finished store for work. Until a node works on it the store keeps the tally: to open it as a
	// target of the same copy again is a *FinishedError.
	Release(ctx context.Context, t Tally) error
}

// CopyOf says what a Target is a copy of.
type CopyOf struct {
	From     string `json:"from"`     // for people; it holds no password
	Identity string `json:"identity"` // of the source
}

// Check returns ErrOccupied unless a target that has the other's mark may go on as a copy of c.
func (c CopyOf) Check(other CopyOf) error {
	if c.Identity != other.Identity {
		return fmt.Errorf("%w: a copy from %s was begun, of another store or before that one was changed", ErrOccupied, other.From)
	}
	return nil
}

// UnfinishedError is a store that a copy was begun into and not finished: it isn't opened for work.
type UnfinishedError struct{ From string }

// Error names the source of the copy.
func (e *UnfinishedError) Error() string {
	return "the copy from " + e.From + " into this store isn't finished"
}

// FinishedError is the target of a copy that was finished before, on which no node has worked since.
type FinishedError struct{ Tally Tally }

// Error says that there is nothing left to do.
func (e *FinishedError) Error() string { return "the copy into this store is finished" }

// InUseError is a database on which nodes have sessions.
type InUseError struct{ Nodes []string }

// Error counts the nodes.
func (e *InUseError) Error() string {
	return fmt.Sprintf("the database is in use: nodes with a session: %d", len(e.Nodes))
}

// The errors of copies.
var (
	ErrOccupied = errors.New("store: the target holds data that isn't from this copy")
	ErrDiffers  = errors.New("store: the copy differs from its source")
	ErrChanged  = errors.New("store: the source was changed during the copy")
	// ErrNoAccount is returned for a source with a key, a link or a session whose account is lost.
	ErrNoAccount = errors.New("store: the account isn't there")
)

// Phase is a part of a copy's work.
type Phase string

// The phases, in their order.
const (
	PhaseCopy   Phase = "copying"
	PhaseFinish Phase = "indexing"
	PhaseVerify Phase = "verifying"
)

// The most that one commit of a copy has.
const (
	copyTasks = 4000
	copyBytes = 8 << 20 // of the tasks' larger parts
)

// Copy brings everything from a store to another, goes on after a copy of the same store that was cut off, compares
// what was read back from the target with the source, and releases the target. heard is told, by one goroutine after
// the other, how many tasks a phase has done. ErrDiffers and ErrChanged leave a target that stays closed.
func Copy(ctx context.Context, from Source, to Target, heard func(p Phase, tasks int64)) (Tally, error) {
	before, err := from.Identity(ctx)
	if err != nil {
		return nil, err
	}
	last, begun, err := to.Last(ctx)
	if err != nil {
		return nil, err
	}
	heard(PhaseCopy, 0)
	if !begun {
		c, err := from.Contents(ctx)
		if err != nil {
			return nil, err
		}
		if err := c.check(); err != nil {
			return nil, err
		}
		if err := to.PutContents(ctx, c); err != nil {
			return nil, err
		}
	}
	if err := copyAll(ctx, from.Tasks(ctx, last), to, heard); err != nil {
		return nil, err
	}
	heard(PhaseFinish, 0)
	if err := to.Finish(ctx); err != nil {
		return nil, err
	}
	heard(PhaseVerify, 0)
	tally, err := verify(ctx, from, to, heard)
	if err != nil {
		return nil, err
	}
	if after, err := from.Identity(ctx); err != nil || after != before {
		return nil, errors.Join(ErrChanged, err)
	}
	return tally, to.Release(ctx, tally)
}

// check returns ErrNoAccount with the name of a record whose account isn't there.
func (c *Contents) check() error {
	there := map[string]bool{}
	for _, a := range c.Accounts {
		there[a.ID] = true
	}
	for _, k := range c.Keys {
		if !there[k.Account] {
			return fmt.Errorf("%w: %s, of the key %s", ErrNoAccount, k.Account, k.ID)
		}
	}
	for _, l := range c.Links {
		if !there[l.Account] {
			return fmt.Errorf("%w: %s, of a link for %s", ErrNoAccount, l.Account, l.Member)
		}
	}
	for _, s := range c.Sessions {
		if !there[s.Account] {
			return fmt.Errorf("%w: %s, of a session of %s", ErrNoAccount, s.Account, s.Member)
		}
	}
	return nil
}

// copyAll brings the tasks to the target. They are read while others are written.
func copyAll(ctx context.Context, tasks iter.Seq2[task.Task, error], to Target, heard func(Phase, int64)) error {
	ctx, stop := context.WithCancelCause(ctx)
	groups := make(chan []task.Task, 1)
	go func() {
		defer close(groups)
		if err := gather(ctx, tasks, groups); err != nil {
			stop(err)
		}
	}()
	var err error
	var done int64
	for group := range groups {
		if err != nil {
			continue // the reader ends too
		}
		if err = to.PutTasks(ctx, group); err != nil {
			stop(err)
			continue
		}
		done += int64(len(group))
		heard(PhaseCopy, done)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	stop(nil)
	return err
}

// gather sends the tasks in groups.
func gather(ctx context.Context, tasks iter.Seq2[task.Task, error], groups chan<- []task.Task) error {
	var group []task.Task
	bytes := 0
	send := func() error {
		select {
		case groups <- group:
			group, bytes = make([]task.Task, 0, copyTasks), 0
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for t, err := range tasks {
		if err != nil {
			return err
		}
		group = append(group, t)
		if bytes += len(t.Input) + t.Output.Size(); len(group) == copyTasks || bytes >= copyBytes {
			if err := send(); err != nil {
				return err
			}
		}
	}
	if len(group) == 0 {
		return nil
	}
	return send()
}
