package httpmap

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/jq"
	"unitask/internal/supplier/upstream"
)

// The states that a map's program may give.
const (
	running = "running"
	done    = "done"
	failed  = "failed"
)

// statusLimit bounds an answer about a job that has no result, in bytes.
const statusLimit = 1 << 20

var (
	errNoJob   = errors.New("the map finds no job's id in the answer")
	errNoState = errors.New("the map finds no known state in the answer")
	errStored  = errors.New("the stored job has no map")
	errFailed  = errors.New("the supplier says that the work failed")
	errNoStop  = errors.New("the map has no way to stop a job")
)

// state is the stored part of a job beside its id and model.
type state struct {
	Capability catalog.Name    `json:"capability"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // if a program asks for them
}

// Submit sends the request, once.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	p := a.planOf(r)
	if p == nil {
		return supplier.Outcome{}, upstream.Unfit(errNoMap)
	}
	call, err := p.call(ctx, r)
	if err != nil {
		return supplier.Outcome{}, err
	}
	answer, err := p.format.Send(ctx, call)
	if err != nil {
		return supplier.Outcome{}, err
	}
	parameters, err := jq.Decode(r.Parameters)
	if err != nil {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, err)
	}
	if p.job == nil {
		return p.finish(ctx, answer, parameters)
	}
	return p.begun(ctx, answer, r, parameters)
}

// begun takes the answer to a submission that may have begun a job.
func (p *plan) begun(ctx context.Context, answer upstream.Answer, r supplier.Request, parameters any) (supplier.Outcome, error) {
	s, err := p.read(answer, parameters)
	if err != nil {
		return supplier.Outcome{}, err
	}
	v, err := s.run(ctx, p.job)
	if err != nil {
		return supplier.Outcome{}, ended(answer, err)
	}
	id, is := v.(string)
	switch {
	case v == nil && p.answer == "":
		return p.result(ctx, s, nil)
	case !is || !upstream.FitsPath(id):
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoJob)
	}
	kept := state{Capability: p.capability}
	if p.needsParameters() {
		kept.Parameters = r.Parameters
	}
	stored, err := json.Marshal(kept)
	if err != nil {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, err)
	}
	return supplier.Outcome{Job: &supplier.Job{ID: id, Model: r.Model, State: stored}}, nil
}

// needsParameters reports whether a program that reads the answer asks for the request's parameters.
func (p *plan) needsParameters() bool {
	programs := []*jq.Program{p.output, p.state}
	for _, one := range p.usage {
		programs = append(programs, one.program)
	}
	for _, program := range programs {
		if program != nil && program.Uses(theParameters) {
			return true
		}
	}
	return false
}

// stored returns the map of a stored job, and its request's parameters.
func (a *adapter) stored(j supplier.Job) (*plan, any, error) {
	var s state
	err := json.Unmarshal(j.State, &s)
	p := a.plans[planKey{s.Capability, j.Model}]
	if err != nil || p == nil || p.poll == nil || !upstream.FitsPath(j.ID) {
		return nil, nil, upstream.Failure(supplier.Failed, fault.ProviderUnavailable, errStored)
	}
	var parameters any = map[string]any{}
	if len(s.Parameters) > 0 {
		if parameters, err = jq.Decode(s.Parameters); err != nil {
			return nil, nil, upstream.Failure(supplier.Failed, fault.ProviderUnavailable, errStored)
		}
	}
	return p, parameters, nil
}

// Poll asks after a job, and fetches its result if that is elsewhere.
func (a *adapter) Poll(ctx context.Context, j supplier.Job) (supplier.Outcome, error) {
	p, parameters, err := a.stored(j)
	if err != nil {
		return supplier.Outcome{}, err
	}
	limit := int64(0)
	if p.outcome != nil {
		limit = statusLimit
	}
	answer, err := p.format.Send(ctx, p.poll.call(p.name, j.ID, limit))
	if err != nil {
		return supplier.Outcome{}, err
	}
	s := source{answer: answer, parameters: parameters}
	if s.value, err = decode(answer.Body); err != nil {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoJSON)
	}
	word, progress, err := p.stateOf(ctx, s)
	switch {
	case err != nil:
		return supplier.Outcome{}, err
	case word == running:
		j.Progress, j.PollAfter = progress, upstream.RetryAfter(answer.Header.Get("Retry-After"), time.Now())
		return supplier.Outcome{Job: &j}, nil
	case word == failed:
		return supplier.Outcome{}, p.failure(answer)
	case p.outcome == nil:
		out, err := p.result(ctx, s, nil)
		return out, ofJob(err)
	}
	return p.fetch(ctx, j, parameters)
}

// call returns the question about a job.
func (r *request) call(model, job string, limit int64) upstream.Call {
	return upstream.Call{Method: r.method, Path: r.path.path(model, job), Limit: limit}
}

// stateOf returns the state in an answer about a job, and its progress from 0 to 1, nil if it doesn't say.
func (p *plan) stateOf(ctx context.Context, s source) (word string, progress *float64, err error) {
	v, err := s.run(ctx, p.state)
	if err != nil {
		return "", nil, ofJob(ended(s.answer, err))
	}
	if object, is := v.(map[string]any); is {
		if n, is := jq.Number(object["progress"]); is && n >= 0 && n <= 1 {
			progress = &n
		}
		v = object["state"]
	}
	switch word, _ = v.(string); word {
	case running, done, failed:
		return word, progress, nil
	default:
		return "", nil, upstream.Unusable(s.answer.Status, errNoState)
	}
}

// failure is the end of a job that failed, with the code of the map's rules.
func (p *plan) failure(answer upstream.Answer) error {
	code := fault.ProviderUnavailable
	r, found := p.ruleFor(answer)
	if found {
		code = r.Code
	}
	e := upstream.Failure(supplier.Failed, code, errFailed)
	e.Operator = r.Operator
	return e
}

// fetch asks for the result of a job that is done. An answer that has none of the map's form is asked for again, unless
// it is the supplier's own word.
func (p *plan) fetch(ctx context.Context, j supplier.Job, parameters any) (supplier.Outcome, error) {
	answer, err := p.format.Send(ctx, p.outcome.call(p.name, j.ID, 0))
	if err != nil {
		return supplier.Outcome{}, err
	}
	if p.answer != "" {
		own, s, err := p.readBytes(answer, parameters)
		if err != nil {
			return supplier.Outcome{}, err
		}
		out, err := p.result(ctx, s, own)
		return out, ofJob(err)
	}
	s, err := p.read(answer, parameters)
	if err != nil && s.value == nil {
		return supplier.Outcome{}, err
	}
	if err != nil {
		return supplier.Outcome{}, ofJob(err)
	}
	out, err := p.result(ctx, s, nil)
	return out, ofJob(err)
}

// ofJob makes an error about the answer of a finished job the job's own: the work was accepted, and asking again
// brings no other answer.
func ofJob(err error) error {
	if err == nil {
		return nil
	}
	e := supplier.AsError(err)
	e.Sent = supplier.Failed
	return e
}

// Cancel asks to stop a job. One that has ended, or is no longer known, is left as it is.
func (a *adapter) Cancel(ctx context.Context, j supplier.Job) error {
	p, _, err := a.stored(j)
	if err != nil {
		return err
	}
	if p.cancel == nil {
		return upstream.Failure(supplier.NotSent, fault.ProviderUnavailable, errNoStop)
	}
	_, err = p.format.Send(ctx, p.cancel.call(p.name, j.ID, statusLimit))
	if e := supplier.AsError(err); e != nil && (e.Status == http.StatusNotFound || e.Status == http.StatusConflict || e.Status == http.StatusGone) {
		return nil
	}
	return err
}
