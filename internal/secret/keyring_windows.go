package secret

import "github.com/99designs/keyring"

const (
	hintNoKeyring = "use the environment or a file"
	hintLocked    = "sign in to Windows, then try again"
)

func backends() []keyring.BackendType { return []keyring.BackendType{keyring.WinCredBackend} }

// isLocked is never true: the Credential Manager is open while its user is signed in.
func isLocked(error) bool { return false }
