package secret

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// callTimeout bounds each call: a locked keyring waits for a person at a dialogue, which a server doesn't have, while
// a healthy one answers in milliseconds.
const callTimeout = 3 * time.Second

// KeyringConfig names the part of the operating system's keyring to use.
type KeyringConfig struct {
	Service string        // the group of items; "": DefaultService
	Timeout time.Duration // of one call; 0: 3 s
}

// Keyring is the operating system's: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows; no
// other one is ever chosen. It is safe for concurrent use. Each call ends within the timeout, with ErrNotFound,
// ErrLocked, ErrTooLong or ErrNoKeyring if it fails.
type Keyring struct {
	service string
	timeout time.Duration
	what    string // it is called in errors; "": keyring
	limit   int    // bytes of a secret
	ring    ring
}

// ring is a back end: texts by name. A missing one is errMissing, to Get and to Remove.
type ring interface {
	Get(name string) (string, error)
	Set(name, text string) error
	Remove(name string) error
}

// OpenKeyring connects to the keyring. Success doesn't prove that it can keep anything: Probe does.
func OpenKeyring(ctx context.Context, c KeyringConfig) (*Keyring, error) {
	k := &Keyring{service: c.Service, timeout: c.Timeout, limit: sizeLimit}
	if k.service == "" {
		k.service = DefaultService
	}
	if !validItem(k.service) {
		return nil, &Error{Kind: ErrNotRef, Message: "a keyring service is 1 to 128 printable characters without space and slash"}
	}
	if k.timeout <= 0 {
		k.timeout = callTimeout
	}
	opening, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	opened, err := bounded(ctx, k.timeout, func() (ring, error) { return openRing(opening, k.service) })
	switch {
	case ctx.Err() == nil && (errors.Is(err, errSlow) || errors.Is(err, context.DeadlineExceeded)):
		// Opening asks no question, so there is no dialogue to wait for.
		return nil, &Error{Kind: ErrNoKeyring, Message: "keyring: open: it doesn't answer", Hint: hintSilent}
	case err != nil:
		return nil, k.failure("open", err)
	}
	k.ring = opened
	return k, nil
}

// Get returns the secret kept under name, or ErrNotFound.
func (k *Keyring) Get(ctx context.Context, name string) (Value, error) {
	if err := checkName(name); err != nil {
		return Value{}, err
	}
	text, err := bounded(ctx, k.timeout, func() (string, error) { return k.ring.Get(name) })
	if err == nil && text == "" {
		err = errMissing
	}
	if err != nil {
		return Value{}, k.failure("read "+name, err)
	}
	return New(text), nil
}

// Set stores v under name, in place of a former value. A value that is too long for the keyring is ErrTooLong.
func (k *Keyring) Set(ctx context.Context, name string, v Value) error {
	if err := checkName(name); err != nil {
		return err
	}
	if size := len(v.Reveal()); size > k.limit {
		return &Error{
			Kind: ErrTooLong, Message: fmt.Sprintf("%s: write %s: the secret has %d bytes, and at most %d are kept", k.name(), name, size, k.limit),
			Hint: "keep it in a file that only you can read, and name that",
		}
	}
	_, err := bounded(ctx, k.timeout, func() (struct{}, error) { return struct{}{}, k.ring.Set(name, v.Reveal()) })
	if err != nil {
		return k.failure("write "+name, err)
	}
	return nil
}

// Delete removes name; a name that isn't there is no error.
func (k *Keyring) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	_, err := bounded(ctx, k.timeout, func() (struct{}, error) { return struct{}{}, k.ring.Remove(name) })
	if err != nil && !errors.Is(err, errMissing) {
		return k.failure("delete "+name, err)
	}
	return nil
}

// Probe writes, reads and deletes an item of its own. Only this shows that the keyring works.
func (k *Keyring) Probe(ctx context.Context) error {
	name, want := "probe-"+rand.Text(), New(rand.Text())
	if err := k.Set(ctx, name, want); err != nil {
		return err
	}
	got, err := k.Get(ctx, name)
	if err != nil {
		return err
	}
	if !got.Equal(want) {
		return k.failure("probe", errors.New("it returned another value than it was given"))
	}
	return k.Delete(ctx, name)
}

func checkName(name string) error {
	if !validItem(name) {
		return &Error{Kind: ErrNotRef, Message: "a keyring name is 1 to 128 printable characters without space and slash"}
	}
	return nil
}

func (k *Keyring) name() string { return cmp.Or(k.what, "keyring") }

// failure attaches the kind and the hint to a back end's error.
func (k *Keyring) failure(op string, err error) *Error {
	e := &Error{Kind: ErrNoKeyring, Message: k.name() + ": " + op, Hint: hintNoKeyring, cause: err}
	if _, sealed := k.ring.(*sealedRing); sealed {
		e.Hint = "unitask login --new-passphrase starts anew where it is forgotten or the file is lost, without the keys that are in it"
	}
	switch {
	case errors.Is(err, errPassphrase):
		e.Kind = ErrPassphrase
	case errors.Is(err, errMissing):
		e.Kind, e.Hint, e.cause = ErrNotFound, "", nil
		e.Message += ": nothing is kept under this name"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Hint, e.cause = err, "", nil
		e.Message += ": the caller gave up"
	case errors.Is(err, errSlow), errors.Is(err, errLocked):
		e.Kind, e.Hint = ErrLocked, hintLocked
	}
	return e
}

// The back ends' words for ErrLocked and ErrNotFound.
var (
	errLocked  = errors.New("it is locked")
	errMissing = errors.New("it has no such item")
)

// errSlow is a call that outlasted its timeout: as a rule an unanswered dialogue.
var errSlow = errors.New("no answer in time")

// bounded runs f for at most d. A call that never returns keeps its goroutine, because it can't be stopped; a panic
// of the library, as after a dismissed dialogue, becomes an error.
func bounded[T any](ctx context.Context, d time.Duration, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("the keyring library panicked: %v", p)
			}
			done <- o
		}()
		o.value, o.err = f()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	var zero T
	select {
	case o := <-done:
		return o.value, o.err
	case <-timer.C:
		return zero, errSlow
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}
