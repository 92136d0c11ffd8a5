package fal

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/modelmap"
	"unitask/internal/supplier/upstream"
)

var (
	errNoJob    = errors.New("the answer names no job")
	errNoStatus = errors.New("the answer holds no known status")
	errNoState  = errors.New("the stored job is unreadable")
	errCanceled = errors.New("the work was canceled")
	errNoResult = errors.New("the answer is no JSON")
)

// state is the stored part of a job beside its id and model.
type state struct {
	Capability catalog.Name `json:"capability"`
	Path       string       `json:"path"`           // of the job, below the base URL
	Added      int64        `json:"added,omitzero"` // milliseconds by which a video is extended
}

func stateOf(j supplier.Job) (state, error) {
	var s state
	if json.Unmarshal(j.State, &s) != nil || !strings.HasPrefix(s.Path, "/") || strings.Contains(s.Path, "..") {
		return state{}, upstream.Failure(supplier.Failed, fault.Internal, errNoState)
	}
	return s, nil
}

// decodeSubmission returns the job that an answer of success names.
func (a *adapter) decodeSubmission(answer upstream.Answer, r supplier.Request, name string) (supplier.Outcome, error) {
	var body struct {
		upstream.Envelope
		ID        string `json:"request_id"`
		StatusURL string `json:"status_url"`
	}
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	if !upstream.FitsPath(body.ID) {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoJob)
	}
	stored, err := json.Marshal(state{catalog.Name(r.Capability), a.jobPath(body.StatusURL, body.ID, name), modelmap.Added(r)})
	if err != nil {
		return supplier.Outcome{}, err
	}
	return supplier.Outcome{Job: &supplier.Job{ID: body.ID, Model: r.Model, State: stored}}, nil
}

// jobPath returns the path of a job: that of its status address if this is one of the configured
// host's, else the one that the format prescribes, of the model's owner and app alone.
func (a *adapter) jobPath(statusURL, id, name string) string {
	if u, err := url.Parse(statusURL); err == nil && u.Scheme == a.base.Scheme && u.Host == a.base.Host {
		path, below := strings.CutPrefix(u.EscapedPath(), a.base.EscapedPath())
		path, status := strings.CutSuffix(path, "/status")
		if below && status && strings.HasPrefix(path, "/") && strings.HasSuffix(path, "/requests/"+id) && !strings.Contains(path, "..") {
			return path
		}
	}
	owner, rest, _ := strings.Cut(strings.Trim(name, "/"), "/")
	app, _, _ := strings.Cut(rest, "/")
	return pathOf(owner+"/"+app) + "/requests/" + id
}

// progress is how a job stands.
type progress int

const (
	working progress = iota
	complete
)

// decodeStatus takes an answer about a job. A status that isn't known is asked after again.
func (a *adapter) decodeStatus(answer upstream.Answer) (progress, error) {
	var body struct {
		Status string `json:"status"`
	}
	if upstream.Decode(answer.Body, &body) != nil {
		return working, upstream.Unusable(answer.Status, errNoStatus)
	}
	switch strings.ToUpper(body.Status) {
	case "IN_QUEUE", "IN_PROGRESS":
		return working, nil
	case "COMPLETED":
		return complete, nil
	case "CANCELLED", "CANCELED":
		return working, upstream.Failure(supplier.Failed, fault.ProviderUnavailable, errCanceled)
	default:
		return working, upstream.Unusable(answer.Status, errNoStatus)
	}
}

// decodeResult takes the result of a job that is complete: the model's output, or the reason why it is missing.
func (a *adapter) decodeResult(answer upstream.Answer, j supplier.Job, s state) (supplier.Outcome, error) {
	switch {
	case answer.Status == http.StatusAccepted: // the queue still says so
		return supplier.Outcome{Job: &j}, nil
	case !answer.OK():
		return supplier.Outcome{}, a.failure(answer)
	case !json.Valid(answer.Body): // from something in between
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoResult)
	}
	return a.Outcome(s.Capability, j.Model, answer.Body, s.Added)
}

// failure judges the answer in the place of a result. It is the work's own failure if it has a type of the format's
// or refuses the input; otherwise it is about the question, which is asked again.
func (a *adapter) failure(answer upstream.Answer) error {
	e := a.format.Refusal(answer)
	if typed(answer) || e.Fault.Code == fault.InvalidRequest {
		e.Sent = supplier.Failed
	}
	return e
}

// typed reports whether the answer names a type of error that is known.
func typed(answer upstream.Answer) bool {
	known := meanings()
	return slices.ContainsFunc(upstream.ParseProblem(answer.Body).Words, func(word string) bool {
		_, ok := known[word]
		return ok
	})
}

// judge takes an error that no type and no other rule explains for a refusal of the input: the format has many
// statuses for it. A locked account, as by its balance, has no type and is told by its words.
func judge(answer upstream.Answer, e *supplier.Error) {
	if answer.Status == http.StatusForbidden {
		var body struct {
			Detail string `json:"detail"`
		}
		_ = upstream.Decode(answer.Body, &body) // another form has other words
		e.Operator = e.Operator || strings.HasPrefix(body.Detail, "User is locked")
		return
	}
	if e.Fault.Code == fault.ProviderUnavailable && e.Request && !typed(answer) {
		e.Fault = upstream.Failure(e.Sent, fault.InvalidRequest, nil).Fault
	}
}

// meanings are the types that say more than their status.
func meanings() upstream.Meanings {
	review := upstream.Meaning{Code: fault.ContentPolicyViolation}
	late := upstream.Meaning{Code: fault.ProviderTimeout}
	down := upstream.Meaning{Code: fault.ProviderUnavailable}
	return upstream.Meanings{
		"content_policy_violation":       review,
		"request_timeout":                late,
		"startup_timeout":                late,
		"generation_timeout":             late,
		"runner_scheduling_failure":      {Code: fault.CapacityExhausted},
		"runner_connection_timeout":      down,
		"runner_connection_refused":      down,
		"runner_connection_error":        down,
		"runner_disconnected":            down,
		"runner_incomplete_response":     down,
		"runner_server_error":            down,
		"downstream_service_error":       down,
		"downstream_service_unavailable": down,
		"internal_server_error":          down,
		"internal_error":                 down,
		"no_media_generated":             down,
	}
}
