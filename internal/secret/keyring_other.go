//go:build !darwin && !linux && !windows

package secret

import (
	"context"
	"errors"
)

const (
	hintNoKeyring = "use the environment or a file"
	hintLocked    = hintNoKeyring
	hintSilent    = hintNoKeyring
	sizeLimit     = fileLimit
)

func openRing(context.Context, string) (ring, error) {
	return nil, errors.New("this system has none")
}
