//go:build !darwin && !linux && !windows

package secret

import "github.com/99designs/keyring"

const (
	hintNoKeyring = "use the environment or a file"
	hintLocked    = hintNoKeyring
)

// backends is empty, not nil, which would allow the library's own choice.
func backends() []keyring.BackendType { return []keyring.BackendType{} }

func isLocked(error) bool { return false }
