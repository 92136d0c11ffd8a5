//go:build !darwin

package secret

import (
	"errors"

	"github.com/99designs/keyring"
)

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
	if errors.Is(err, keyring.ErrNoAvailImpl) {
		return nil, errors.New("this session has none")
	}
	if err != nil {
		return nil, err
	}
	return libraryRing{r}, nil
}
