//go:build darwin || linux || windows

package secret

import (
	"errors"

	native "github.com/zalando/go-keyring"
)

// nativeRing is the system's keyring, by zalando/go-keyring.
type nativeRing struct{ service string }

func (n nativeRing) Get(name string) (string, error) {
	text, err := native.Get(n.service, name)
	return text, translated(err)
}

func (n nativeRing) Set(name, text string) error {
	return translated(native.Set(n.service, name, text))
}

func (n nativeRing) Remove(name string) error { return translated(native.Delete(n.service, name)) }

func translated(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, native.ErrNotFound):
		return errMissing
	case isLocked(err):
		return errLocked
	}
	return err
}
