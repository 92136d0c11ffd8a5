package upstream

import (
	"fmt"
	"net/http"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// Meaning is the meaning of a supplier's own code.
type Meaning struct {
	Code     fault.Code
	Operator bool // the operator's to fix
}

// Meanings are an adapter's rows of the error table, by the supplier's code in lower case.
type Meanings map[string]Meaning

// SentByStatus returns the verdict of an answer that isn't a success. An answer of status 4xx or 5xx
// is a refusal, and so is a redirect that asks for the same request elsewhere. The exceptions may
// come from a proxy that gave up on a request already passed on: 408, 499, 504, 520 and 524.
func SentByStatus(status int) supplier.Sent {
	switch {
	case timedOut(status), status == 520:
		return supplier.Unknown
	case status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		return supplier.Refused
	case status >= 400 && status <= 599:
		return supplier.Refused
	default:
		return supplier.Unknown
	}
}

func timedOut(status int) bool {
	switch status {
	case http.StatusRequestTimeout, 499, http.StatusGatewayTimeout, 524:
		return true
	default:
		return false
	}
}

// Refusal returns the error of an answer that isn't a success, or of a success that hides one: by m's codes, else by
// its status, which inside a success is the one that the body names.
func Refusal(a Answer, m Meanings, now time.Time) *supplier.Error {
	p := ParseProblem(a.Body)
	word, meaning := m.find(p.Words)
	status, sent := a.Status, SentByStatus(a.Status)
	if a.OK() {
		// An error without a known status or code proves nothing, nor does one that mentions a timeout.
		status = p.Status
		if sent = SentByStatus(p.Status); word != "" && p.Status == 0 && meaning.Code != fault.ProviderTimeout {
			sent = supplier.Refused
		}
	}
	verdict := judge(status, p, word, meaning)
	e := Failure(sent, verdict.Code, describe(a.Status, word))
	e.Operator, e.Request = verdict.Operator, !verdict.Operator && aboutRequest(status)
	e.Status, e.RetryAfter = a.Status, RetryAfter(a.Header.Get("Retry-After"), now)
	return e
}

// aboutRequest reports whether an answer of the status concerns the request's sender alone. Other 4xx may mean a
// timeout, a lack of room, the key, or, undocumented as 403 and 404 often are, anything.
func aboutRequest(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound,
		http.StatusTooEarly, http.StatusTooManyRequests, 498:
		return false
	default:
		return status >= 400 && status <= 499 && !timedOut(status)
	}
}

// judge ranks the evidence: a review's refusal, which must never fail over, then a status that is conclusive, then
// the supplier's code, then the status.
func judge(status int, p Problem, word string, m Meaning) Meaning {
	switch {
	case m.Code == fault.ContentPolicyViolation, status == http.StatusForbidden && p.Flagged:
		return Meaning{Code: fault.ContentPolicyViolation}
	case timedOut(status):
		return Meaning{Code: fault.ProviderTimeout}
	case notServed(status):
		return Meaning{Code: unavailable, Operator: m.Operator || status == http.StatusUnauthorized || status == http.StatusPaymentRequired}
	case word != "":
		return m
	default:
		return byStatus(status)
	}
}

// notServed reports whether the status says that the key, the address or the model doesn't serve, whatever
// stands beside it. By themselves 401 and 402 alone are the operator's to mend: with another one a guard
// in between may have answered one request.
func notServed(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden,
		http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		return true
	default:
		return status >= 300 && status <= 399
	}
}

func byStatus(status int) Meaning {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return Meaning{Code: fault.InvalidRequest}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, 498, 529:
		return Meaning{Code: fault.CapacityExhausted}
	default:
		return Meaning{Code: unavailable}
	}
}

// find returns the known word that says most: a review's refusal, else an error that the operator must fix, else the
// first.
func (m Meanings) find(words []string) (string, Meaning) {
	best, rank := "", 0
	for _, w := range words {
		if v, ok := m[w]; ok && v.rank() > rank {
			best, rank = w, v.rank()
		}
	}
	return best, m[best]
}

func (m Meaning) rank() int {
	switch {
	case m.Code == fault.ContentPolicyViolation:
		return 3
	case m.Operator:
		return 2
	default:
		return 1
	}
}

// describe names the status and the known code, for logs.
func describe(status int, word string) error {
	if word == "" {
		return fmt.Errorf("answer of status %d", status)
	}
	return fmt.Errorf("answer of status %d, code %s", status, word)
}
