package storetest

import (
	"errors"
	"fmt"

	"github.com/anishathalye/porcupine"

	"unitask/internal/store"
	"unitask/internal/task"
)

// The model of one idempotency key, in as few words as it takes: independent of the code that the
// engines share.

// linState is the task under a key; the zero linState is no task.
type linState struct {
	id          string
	fingerprint string
	state       task.State
	final       bool // failed for good
	reopenings  int
	revision    int64
	cancel      bool
	leased      bool
	epoch       int64  // of the last lease; -1: unknown to all callers
	node        string // that has the lease
	reopenedBy  string // the id that the last reopening proposed
	written     int64  // the number of the last write under a lease
	under       int64  // and that lease's epoch
}

type linKind string

const (
	linCreate  linKind = "create"
	linFind    linKind = "find"
	linGet     linKind = "get"
	linCancel  linKind = "cancel"
	linClaim   linKind = "claim"
	linAdvance linKind = "advance"
	linReclaim linKind = "claim again" // a claim that gave a lease of this key's task
	linCrash   linKind = "crash"       // voids every lease
)

// linStep names the step of an advance.
type linStep string

const (
	stepStart   linStep = "start"
	stepSucceed linStep = "succeed"
	stepFail    linStep = "fail"
	stepRefuse  linStep = "fail for good"
	stepCancel  linStep = "cancel"
	stepRelease linStep = "release"
)

// linInput is an operation on a key.
type linInput struct {
	kind        linKind
	key         string
	id          string // of the task proposed or asked for
	fingerprint string
	lease       bool   // a create that asks for the lease
	node        string // of a create and a claim
	step        linStep
	epoch       int64
	number      int64 // of a claim or of a write under a lease
	again       bool  // it was made before, and its answer lost
}

// linOutput is its answer.
type linOutput struct {
	unknown bool // no answer: the operation may or may not have happened
	err     string
	admit   store.Admit
	seen    linState
	epoch   int64 // of a new lease
}

func (s linState) shows(seen linState) bool {
	return seen == linState{
		id: s.id, state: s.state, final: s.final, reopenings: s.reopenings, revision: s.revision, cancel: s.cancel,
	}
}

// next returns the state after the operation, its answer, and the admission of a create.
func (s linState) next(in linInput) (linState, store.Admit, error) {
	none := linState{}
	switch in.kind {
	case linCreate:
		return s.create(in)
	case linCrash:
		s.leased = false
		return s, "", nil
	case linClaim:
		if s == none || s.state.Terminal() || s.leased {
			return s, "", errUnexpected
		}
		s.leased, s.node = true, in.node
		return s, "", nil
	case linReclaim:
		return s, "", nil
	case linAdvance:
		mine := s.leased && s.epoch == in.epoch
		if s.id == in.id && s.under == in.epoch && s.written == in.number && (mine || !s.leased) {
			return s, "", nil // made before
		}
		if s.id != in.id || !mine {
			return s, "", store.ErrFenced
		}
		n, err := s.advance(in)
		return n, "", err
	}
	if s == none || (in.kind != linFind && s.id != in.id) {
		return s, "", store.ErrNotFound
	}
	if in.kind == linCancel {
		s = s.requestCancel()
	}
	return s, "", nil
}

// errUnexpected is no engine's answer: the operation can't have happened here.
var errUnexpected = errors.New("unexpected")

func (s linState) create(in linInput) (linState, store.Admit, error) {
	switch {
	case s.id == "":
		s = linState{id: in.id, fingerprint: in.fingerprint, state: task.Queued, revision: 1, leased: in.lease, node: in.node}
		return s, store.AdmitCreated, nil
	case s.reopenedBy == in.id:
		return s, store.AdmitReopened, nil // made before
	case s.id == in.id && s.reopenedBy == "":
		return s, store.AdmitCreated, nil
	case s.fingerprint != in.fingerprint:
		return s, "", store.ErrConflict
	case s.state != task.Failed || s.final:
		return s, store.AdmitReplayed, nil
	}
	s.state, s.leased, s.cancel, s.node, s.reopenedBy = task.Queued, in.lease, false, in.node, in.id
	s.under, s.written = 0, 0
	s.reopenings++
	s.revision++
	return s, store.AdmitReopened, nil
}

func (s linState) advance(in linInput) (linState, error) {
	n := s
	n.revision++
	n.under, n.written = in.epoch, in.number
	switch in.step {
	case stepStart:
		n.state = task.Running
		if s.state != task.Queued {
			return s, store.ErrState
		}
	case stepSucceed:
		n.state = task.Succeeded
		if s.state != task.Running {
			return s, store.ErrState
		}
	case stepFail, stepRefuse:
		n.state, n.final = task.Failed, in.step == stepRefuse || s.reopenings == task.MaxReopenings
	case stepCancel:
		n.state = task.Canceled
	case stepRelease:
		n = s
		n.leased = false
	}
	if n.state.Terminal() {
		n.leased = false
	}
	return n, nil
}

func (s linState) requestCancel() linState {
	switch {
	case s.state.Terminal() || (s.leased && s.cancel):
		return s
	case s.leased:
		s.cancel = true
	default:
		s.cancel, s.state = true, task.Canceled
	}
	s.revision++
	return s
}

// step is one operation of a history: the states that may follow it, empty if the answer is wrong.
func (s linState) step(in linInput, out linOutput) []any {
	next, admit, err := s.next(in)
	accepted := in.kind == linCreate && in.lease && admit != store.AdmitReplayed
	fresh := err == nil && (in.kind == linClaim || accepted && next.revision != s.revision) // a lease that is given now
	if out.unknown {
		if errors.Is(err, errUnexpected) || next == s {
			return []any{s}
		}
		if fresh {
			next.epoch = -1
		}
		return []any{s, next}
	}
	standing := err == nil && !fresh && s.leased && (in.kind == linReclaim && s.epoch == in.epoch || accepted && s.node == in.node)
	switch {
	case in.kind == linReclaim && !standing && out.err == kind(nil):
		if out.seen != (linState{}) {
			return nil
		}
	case kind(err) != out.err || admit != out.admit:
		return nil
	case err == nil && in.kind != linCrash && !next.shows(out.seen):
		return nil
	case fresh && out.epoch <= s.epoch, !fresh && !standing && out.epoch != 0:
		return nil
	case standing && (out.epoch == 0 || s.epoch != -1 && out.epoch != s.epoch):
		return nil
	case fresh || standing:
		next.epoch = out.epoch
	}
	return []any{next}
}

// linModel is the model of all keys: each by itself.
func linModel() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			at, parts := map[string]int{}, [][]porcupine.Operation{}
			for _, op := range history {
				key := op.Input.(linInput).key
				i, ok := at[key]
				if !ok {
					i = len(parts)
					at[key], parts = i, append(parts, nil)
				}
				parts[i] = append(parts[i], op)
			}
			return parts
		},
		Init: func() []any { return []any{linState{}} },
		Step: func(state, input, output any) []any {
			return state.(linState).step(input.(linInput), output.(linOutput))
		},
		Equal: func(a, b any) bool { return a == b },
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%+v → %+v", input, output)
		},
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
	return m.ToModel()
}
