package secret

import (
	"context"

	"github.com/99designs/keyring"
)

const (
	hintNoKeyring = "use the environment or a file"
	hintLocked    = "sign in to Windows, then try again"
	hintSilent    = hintNoKeyring
)

// sizeLimit is CRED_MAX_CREDENTIAL_BLOB_SIZE.
const sizeLimit = 2560

// openRing names the back end, for the library's own choice could fall back to files behind a prompt.
func openRing(_ context.Context, service string) (ring, error) {
	return keyring.Open(keyring.Config{
		AllowedBackends: []keyring.BackendType{keyring.WinCredBackend}, ServiceName: service, WinCredPrefix: service,
	})
}
