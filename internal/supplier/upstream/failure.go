package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream/http1"
)

const unavailable = fault.ProviderUnavailable

var (
	errTooLarge = errors.New("the answer is larger than its limit")
	errBroken   = errors.New("the exchange broke or was no HTTP")
)

// Failure returns an adapter's error in the service's own words. cause is for logs and must not hold text of a
// supplier or a caller; it may be nil.
func Failure(sent supplier.Sent, code fault.Code, cause error) *supplier.Error {
	return supplier.NewError(sent, code, message(code), cause)
}

func message(code fault.Code) string {
	switch code {
	case fault.InvalidRequest:
		return "the input or a parameter was refused; change it before submitting again"
	case fault.ContentPolicyViolation:
		return "the content was refused by review; change the input"
	case fault.CapacityExhausted:
		return "the capability is full at the moment; try again later with the same key"
	case fault.ProviderTimeout:
		return "the work was not done in time; try again with the same key"
	case fault.ProviderUnavailable:
		return "the capability is unavailable at the moment; try again shortly with the same key"
	default:
		return "the service met an unexpected fault; the same request may be sent again"
	}
}

// broken turns the early end of an exchange into an error of the product. Before any of a request had left it is
// definite that the supplier has none of it.
func broken(err error) *supplier.Error {
	e, ok := errors.AsType[*http1.Error](err)
	if !ok {
		e = &http1.Error{Sent: true, Err: err}
	}
	verdict := supplier.NotSent
	if e.Sent {
		verdict = supplier.Unknown
	}
	if e.Why != nil {
		return Failure(verdict, fault.ProviderTimeout, e.Why)
	}
	return Failure(verdict, unavailable, known(e.Err))
}

// known keeps the causes whose texts come from this machine alone; an error of net/http may quote the server.
func known(err error) error {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return e
	}
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return e
	}
	for _, e := range []error{io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, e) {
			return e
		}
	}
	return errBroken
}
