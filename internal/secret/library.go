package secret

import (
	"errors"

	"github.com/99designs/keyring"
)

// libraryRing keeps items through 99designs/keyring.
type libraryRing struct{ keys keyring.Keyring }

func (l libraryRing) get(item string) (string, error) {
	found, err := l.keys.Get(item)
	if errors.Is(err, keyring.ErrKeyNotFound) {
		return "", errMissing
	}
	return string(found.Data), err
}

func (l libraryRing) set(item, text string) error {
	return l.keys.Set(keyring.Item{Key: item, Label: item, Data: []byte(text)})
}

func (l libraryRing) remove(item string) error {
	err := l.keys.Remove(item)
	if errors.Is(err, keyring.ErrKeyNotFound) {
		return errMissing
	}
	return err
}
