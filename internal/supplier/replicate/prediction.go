package replicate

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/modelmap"
	"unitask/internal/supplier/upstream"
)

var (
	errNoPrediction = errors.New("the answer holds no prediction of a known status")
	errNoState      = errors.New("the stored job is unreadable")
	errFailed       = errors.New("the model failed")
	errStopped      = errors.New("the prediction was stopped, as by its deadline")
	errRemoved      = errors.New("the output has been removed")
)

// prediction is the decoded part of one.
type prediction struct {
	upstream.Envelope
	ID      string          `json:"id"`
	Status  string          `json:"status"`
	Output  json.RawMessage `json:"output"`
	Removed json.RawMessage `json:"data_removed"`
	Metrics json.RawMessage `json:"metrics"`
}

// state is the stored part of a job beside its id and model.
type state struct {
	Capability catalog.Name `json:"capability"`
	Asked      int          `json:"asked,omitzero"` // bytes of the request's text, for an estimate of its tokens
	Limit      int64        `json:"limit,omitzero"` // max_output_tokens
	Added      int64        `json:"added,omitzero"` // milliseconds by which a video is extended
}

func stateOf(j supplier.Job) (state, error) {
	var s state
	if json.Unmarshal(j.State, &s) != nil || !upstream.FitsPath(j.ID) {
		return state{}, upstream.Failure(supplier.Failed, fault.Internal, errNoState)
	}
	return s, nil
}

// decode returns the prediction that an answer of success holds.
func (a *adapter) decode(answer upstream.Answer) (prediction, error) {
	var p prediction
	if err := upstream.Decode(answer.Body, &p); err != nil {
		return p, upstream.Unusable(answer.Status, errNoPrediction)
	}
	switch p.Status {
	case "starting", "processing", "succeeded", "failed", "canceled", "aborted":
		if upstream.FitsPath(p.ID) {
			return p, nil
		}
	}
	return p, upstream.Unusable(answer.Status, errNoPrediction)
}

// decodeCreation takes the answer to a submission: a prediction, which may have ended well already.
func (a *adapter) decodeCreation(answer upstream.Answer, r supplier.Request) (supplier.Outcome, error) {
	p, err := a.decode(answer)
	if err != nil {
		return supplier.Outcome{}, err
	}
	var parameters struct {
		Limit int64 `json:"max_output_tokens"`
	}
	_ = upstream.Decode(r.Parameters, &parameters)
	s := state{Capability: catalog.Name(r.Capability), Limit: parameters.Limit, Added: modelmap.Added(r)}
	if strings.HasPrefix(r.Capability, "text.") {
		s.Asked = len(r.Input)
	}
	stored, err := json.Marshal(s)
	if err != nil {
		return supplier.Outcome{}, err
	}
	job := supplier.Job{ID: p.ID, Model: r.Model, State: stored}
	if out, err := a.outcome(p, job, s); err == nil {
		return out, nil
	}
	return supplier.Outcome{Job: &job}, nil
}

// outcome is the result of a prediction: work that goes on, a result, or the work's failure.
func (a *adapter) outcome(p prediction, j supplier.Job, s state) (supplier.Outcome, error) {
	switch p.Status {
	case "starting", "processing":
		return supplier.Outcome{Job: &j}, nil
	case "canceled", "aborted":
		return supplier.Outcome{}, upstream.Failure(supplier.Failed, fault.ProviderTimeout, errStopped)
	case "failed":
		return supplier.Outcome{}, a.failure(p)
	}
	if string(p.Removed) == "true" || len(p.Output) == 0 || string(p.Output) == "null" {
		return supplier.Outcome{}, upstream.Failure(supplier.Failed, fault.ProviderUnavailable, errRemoved)
	}
	out, err := a.Outcome(s.Capability, j.Model, p.Output, s.Added)
	if err == nil {
		p.measure(out.Result, s)
	}
	return out, err
}

// measure adds the tokens in the metrics to a text's result, and their reason for its end.
func (p prediction) measure(r *supplier.Result, s state) {
	if !strings.HasPrefix(string(s.Capability), "text.") {
		return
	}
	var m struct {
		Input  json.RawMessage `json:"input_token_count"`
		Output json.RawMessage `json:"output_token_count"`
	}
	if len(p.Metrics) > 0 {
		_ = upstream.Decode(p.Metrics, &m)
	}
	r.Usage = upstream.Tokens(supplier.Usage{InputTokens: upstream.Count(m.Input), OutputTokens: upstream.Count(m.Output)}, s.Asked, len(*r.Text))
	if s.Limit > 0 && upstream.Count(m.Output) >= s.Limit {
		r.FinishReason = "length"
	}
}

// codeForm is the form of the supplier's own codes, as they stand in a failure's text.
var codeForm = regexp.MustCompile(`\bE\d{3,4}\b`)

// codes are those that say more than that the work failed.
var codes = map[string]fault.Code{
	"E003":  fault.CapacityExhausted, // high demand
	"E6716": fault.ProviderTimeout,   // not started in time
}

// failure judges the text of a failed prediction, which is all that tells why.
func (a *adapter) failure(p prediction) error {
	var text string
	_ = json.Unmarshal(p.Error, &text)
	code := fault.ProviderUnavailable
	if known, ok := codes[codeForm.FindString(text)]; ok {
		code = known
	}
	if a.Reviewed(text) {
		code = fault.ContentPolicyViolation
	}
	return upstream.Failure(supplier.Failed, code, errFailed)
}
