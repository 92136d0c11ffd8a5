package supplier

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"unitask/internal/fault"
)

// Sent says whether a submission may have reached the supplier.
type Sent string

// The verdicts. Only NotSent and Refused allow another route.
const (
	NotSent Sent = "not_sent" // dial, TLS, a local limit: no byte left the machine
	Refused Sent = "refused"  // a definite answer that no work was started
	Unknown Sent = "unknown"  // it may have arrived: timeout, reset, EOF after the first byte
	// Failed is the definite failure of work that had been accepted: of a polled job, never of a
	// Submit. It may go to another route too.
	Failed Sent = "failed"
)

// Error is an adapter's error: our code, the verdict and the news for the router.
type Error struct {
	Fault      *fault.Error // for the caller: our code, our words
	Sent       Sent
	RetryAfter time.Duration // the supplier's advice, for the route's cool-down; 0: no advice
	Operator   bool          // the operator's to fix (key, balance, model): trip the route
	Request    bool          // about this request alone, not about the route
	Status     int           // the HTTP status, 0 without one; for logs
	Usage      *Usage        // of work that ended without a result, as a stopped job; nil if the supplier doesn't say
	Charged    *int64        // the supplier's stated charge in nano-USD, nil if it doesn't say
	cause      error         // for logs; never a body, a key or a prompt
}

// NewError returns an Error; cause may be nil.
func NewError(sent Sent, code fault.Code, message string, cause error) *Error {
	return &Error{Fault: fault.New(code, message), Sent: sent, cause: cause}
}

// Error returns the verdict, the code and the cause.
func (e *Error) Error() string {
	s := string(e.Sent) + ": " + e.Fault.Error()
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	return s
}

// Cause returns the cause, for operators and logs; nil without one.
func (e *Error) Cause() error { return e.cause }

// Refusal says, for operators, what of the service's own the supplier refused; "" unless Operator is set and there was
// an answer.
func (e *Error) Refusal() string {
	switch {
	case !e.Operator || e.Status == 0:
		return ""
	case e.Status == http.StatusUnauthorized:
		return "the supplier refuses the key (401)"
	case e.Status == http.StatusPaymentRequired:
		return "the supplier asks for a payment (402)"
	default:
		return fmt.Sprintf("the supplier refuses the key, the balance or the model (%d)", e.Status)
	}
}

// Unwrap returns the fault and the cause, so that fault.CodeOf works.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Fault}
	}
	return []error{e.Fault, e.cause}
}

// AsError returns err as an *Error. An error of another type is of unknown outcome: INTERNAL.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Fault: fault.From(err), Sent: Unknown, cause: err}
}

// AfterText is the verdict on a failure that comes after a piece of streamed text: the work was started, and another
// route would tell the caller another text, so its outcome is unknown, except that a review's refusal stays definite.
func AfterText(err error) *Error {
	e := AsError(err)
	if e.Fault.Code != fault.ContentPolicyViolation {
		e.Sent = Unknown
	}
	return e
}
