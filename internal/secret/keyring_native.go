//go:build darwin || linux

package secret

import (
	"errors"
	"strings"

	"github.com/99designs/keyring"
	native "github.com/zalando/go-keyring"
)

// nativeRing stores items through zalando/go-keyring, on systems on which the back end of 99designs/keyring is absent
// (Keychain without cgo) or rests on unmaintained libraries (Secret Service).
type nativeRing struct{ service string }

func (n nativeRing) Get(key string) (keyring.Item, error) {
	text, err := native.Get(n.service, n.name(key))
	return keyring.Item{Key: key, Data: []byte(text)}, n.translated(err)
}

func (n nativeRing) Set(item keyring.Item) error {
	return n.translated(native.Set(n.service, n.name(item.Key), string(item.Data)))
}

func (n nativeRing) Remove(key string) error {
	return n.translated(native.Delete(n.service, n.name(key)))
}

func (n nativeRing) name(key string) string { return strings.TrimPrefix(key, n.service+"/") }

func (n nativeRing) translated(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, native.ErrNotFound):
		return keyring.ErrKeyNotFound
	case isLocked(err):
		return errLocked
	}
	return err
}
