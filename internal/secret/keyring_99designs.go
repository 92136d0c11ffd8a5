//go:build !darwin

package secret

import (
	"errors"

	"github.com/99designs/keyring"
)

// desktopRing keeps items through 99designs/keyring.
type desktopRing struct{ keys keyring.Keyring }

// openRing names the allowed back ends: the library's own choice would fall back to the kernel's
// volatile keyctl, to pass, or to files behind a prompt.
func openRing(service string) (ring, error) {
	r, err := keyring.Open(keyring.Config{
		AllowedBackends:         backends(),
		ServiceName:             service,
		LibSecretCollectionName: "login", // the one collection that a desktop unlocks at sign-in
		KWalletAppID:            service,
		KWalletFolder:           service,
		WinCredPrefix:           service,
	})
	if err != nil {
		return nil, err
	}
	return desktopRing{r}, nil
}

func (d desktopRing) get(item string) (string, error) {
	found, err := d.keys.Get(item)
	if errors.Is(err, keyring.ErrKeyNotFound) {
		return "", errMissing
	}
	return string(found.Data), err
}

func (d desktopRing) set(item, text string) error {
	return d.keys.Set(keyring.Item{Key: item, Label: item, Data: []byte(text)})
}

func (d desktopRing) remove(item string) error {
	err := d.keys.Remove(item)
	if errors.Is(err, keyring.ErrKeyNotFound) {
		return errMissing
	}
	return err
}
