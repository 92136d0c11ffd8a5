package gemini

import (
	"context"
	"encoding/json"
	"errors"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var (
	errJob     = errors.New("the job's name is none of this kind's")
	errNoVideo = errors.New("the operation ended without a video")
	errFailed  = errors.New("the operation failed")
)

// operation is a job as the API shows it.
type operation struct {
	upstream.Envelope
	Name     string `json:"name"`
	Done     bool   `json:"done"`
	Response *struct {
		Video struct {
			Samples []struct {
				Video struct {
					URI string `json:"uri"`
				} `json:"video"`
			} `json:"generatedSamples"`
			Filtered json.RawMessage   `json:"raiMediaFilteredCount"`
			Reasons  []json.RawMessage `json:"raiMediaFilteredReasons"`
		} `json:"generateVideoResponse"`
	} `json:"response"`
}

// Poll asks after a video. A job that the API no longer knows may have been done: that is no failure of it, nor is an
// answer that makes no sense.
func (a *adapter) Poll(ctx context.Context, j supplier.Job) (supplier.Outcome, error) {
	if !operationName.MatchString(j.ID) {
		return supplier.Outcome{}, upstream.Unfit(errJob)
	}
	answer, err := a.format.Get(ctx, version+j.ID, textLimit)
	if err != nil {
		return supplier.Outcome{}, err
	}
	var body operation
	err = upstream.Decode(answer.Body, &body)
	switch {
	case err == nil && body.Done && hasError(body.Envelope):
		return supplier.Outcome{}, failed(body.Error)
	case err != nil || hasError(body.Envelope) || body.Done && body.Response == nil || !body.Done && body.Name == "":
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoContent)
	case !body.Done:
		j.PollAfter = pollAfter
		return supplier.Outcome{Job: &j}, nil
	}
	return a.ended(body, j)
}

func hasError(e upstream.Envelope) bool { return len(e.Error) > 0 && string(e.Error) != "null" }

// ended turns an operation that ended well into its videos. The files that a review left are the result.
func (a *adapter) ended(body operation, j supplier.Job) (supplier.Outcome, error) {
	var state jobState
	_ = json.Unmarshal(j.State, &state) // an unreadable one leaves the length unknown
	var files []supplier.File
	for _, s := range body.Response.Video.Samples {
		if f, ok := a.videoFile(s.Video.URI, state.Seconds); ok {
			files = append(files, f)
		}
	}
	if len(files) > 0 {
		return supplier.Outcome{Result: &supplier.Result{Files: files}}, nil
	}
	if len(body.Response.Video.Reasons) > 0 || upstream.Count(body.Response.Video.Filtered) > 0 {
		return supplier.Outcome{}, upstream.Failure(supplier.Failed, fault.ContentPolicyViolation, errReview)
	}
	return supplier.Outcome{}, upstream.Failure(supplier.Failed, fault.ProviderUnavailable, errNoVideo)
}

// failed returns the error of an operation that failed for certain, by its code of google.rpc.Code.
func failed(report json.RawMessage) *supplier.Error {
	var e struct {
		Code json.RawMessage `json:"code"`
	}
	_ = upstream.Decode(report, &e) // without a code it is a fault of the supplier's
	code, operator := fault.ProviderUnavailable, false
	switch upstream.Count(e.Code) {
	case 3, 11: // INVALID_ARGUMENT, OUT_OF_RANGE
		code = fault.InvalidRequest
	case 4: // DEADLINE_EXCEEDED
		code = fault.ProviderTimeout
	case 8, 14: // RESOURCE_EXHAUSTED, UNAVAILABLE
		code = fault.CapacityExhausted
	case 5, 7, 9, 16: // NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION, UNAUTHENTICATED
		operator = true
	}
	failure := upstream.Failure(supplier.Failed, code, errFailed)
	failure.Operator = operator
	return failure
}
