package gate

import (
	"unitask/internal/account"
	"unitask/internal/fault"
)

// Open returns the refusal of new work of the caller's account; nil: it is active. It is for a person who signed in,
// whose session goes on.
func (c Caller) Open() error {
	if state, _ := c.Account.State(); state != account.Active {
		return fault.Newf(fault.InvalidRequest, "the account is %s and takes no new work; its operator may resume it", state)
	}
	return nil
}

// mustBeActive returns the error of a key whose account takes no requests. A closed account's key is as one that was
// never issued.
func mustBeActive(a account.Account) error {
	switch state, _ := a.State(); state {
	case account.Active:
		return nil
	case account.Suspended:
		return fault.New(fault.Unauthenticated, "the key's account is suspended; the service's operator may resume it").
			WithDetails(fault.Detail{Field: "account", Message: "is suspended"})
	default:
		return errInvalidKey
	}
}
