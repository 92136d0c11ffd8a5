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
	epoch       int64 // of the last lease; -1: unknown to all callers
}

type linKind string

const (
	linCreate  linKind = "create"
	linFind    linKind = "find"
	linGet     linKind = "get"
	linCancel  linKind = "cancel"
	linClaim   linKind = "claim"
	linAdvance linKind = "advance"
	linCrash   linKind = "crash" // voids every lease
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
	lease       bool // a create that asks for the lease
	step        linStep
	epoch       int64
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
	s.fingerprint, s.leased, s.epoch = "", false, 0
	return s == seen
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
		s.leased = true
		return s, "", nil
	case linAdvance:
		if s.id != in.id || !s.leased || s.epoch != in.epoch {
			return s, "", store.ErrFenced
		}
		n, err := s.advance(in.step)
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
		s = linState{id: in.id, fingerprint: in.fingerprint, state: task.Queued, revision: 1, leased: in.lease}
		return s, store.AdmitCreated, nil
	case s.fingerprint != in.fingerprint:
		return s, "", store.ErrConflict
	case s.state != task.Failed || s.final:
		return s, store.AdmitReplayed, nil
	}
	s.state, s.leased, s.cancel = task.Queued, in.lease, false
	s.reopenings++
	s.revision++
	return s, store.AdmitReopened, nil
}

func (s linState) advance(step linStep) (linState, error) {
	n := s
	n.revision++
	switch step {
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
		n.state, n.final = task.Failed, step == stepRefuse || s.reopenings == task.MaxReopenings
	case stepCancel:
		n.state = task.Canceled
	case stepRelease:
		n.revision, n.leased = s.revision, false
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
	if out.unknown {
		if errors.Is(err, errUnexpected) || next == s {
			return []any{s}
		}
		if next.leased && (in.kind == linCreate || in.kind == linClaim) && admit != store.AdmitReplayed {
			next.epoch = -1
		}
		return []any{s, next}
	}
	granted := err == nil && (in.kind == linClaim || (in.kind == linCreate && in.lease && admit != store.AdmitReplayed))
	switch {
	case kind(err) != out.err || admit != out.admit:
		return nil
	case err == nil && in.kind != linCrash && !next.shows(out.seen):
		return nil
	case granted && out.epoch <= s.epoch, !granted && out.epoch != 0:
		return nil
	case granted:
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
