package secret

import (
	"errors"

	"github.com/99designs/keyring"
	"github.com/godbus/dbus"

	"unitask/internal/aaguard/nobus"
)

// By now the keyring library has been initialised, and has started no bus.
func init() { nobus.Restore() }

const (
	hintNoKeyring = "start a Secret Service (gnome-keyring, KWallet, KeePassXC) in a session with D-Bus, or use the environment or a file"
	hintLocked    = "unlock the login keyring, then try again; without a desktop: gnome-keyring-daemon --unlock"
)

func backends() []keyring.BackendType {
	return []keyring.BackendType{keyring.SecretServiceBackend, keyring.KWalletBackend}
}

// isLocked recognises the Secret Service's own error.
func isLocked(err error) bool {
	e, ok := errors.AsType[dbus.Error](err)
	return ok && e.Name == "org.freedesktop.Secret.Error.IsLocked"
}
