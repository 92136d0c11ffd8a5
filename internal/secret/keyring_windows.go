package secret

import "context"

const (
	hintNoKeyring = "use the environment or a file"
	hintLocked    = "sign in to Windows, then try again"
	hintSilent    = hintNoKeyring
)

// sizeLimit is CRED_MAX_CREDENTIAL_BLOB_SIZE.
const sizeLimit = 2560

// openRing is the Credential Manager.
func openRing(_ context.Context, service string) (ring, error) { return nativeRing{service}, nil }

func isLocked(error) bool { return false }
