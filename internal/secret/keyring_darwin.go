package secret

import (
	"context"
	"errors"
	"os/exec"
	"slices"
)

const (
	hintNoKeyring = "unlock the login keychain with `security unlock-keychain`, or use the environment or a file"
	hintLocked    = "unlock the login keychain with `security unlock-keychain`, then try again"
	hintSilent    = hintNoKeyring
)

// sizeLimit keeps a command of security, which takes 4,096 bytes, the secret in base64 among them.
const sizeLimit = 2560

// openRing is the login keychain, by the program security: a secret reaches it on its standard input.
func openRing(_ context.Context, service string) (ring, error) { return nativeRing{service}, nil }

// isLocked recognises the status of security if it may not ask, was refused or was dismissed. If it does ask, the
// call runs out of time.
func isLocked(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && slices.Contains([]int{36, 51, 128}, exit.ExitCode()) // the low bytes of errSecInteractionNotAllowed, errSecAuthFailed and userCanceledErr
}
