package secret

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/godbus/dbus/v5"
	service "github.com/zalando/go-keyring/secret_service"
)

const (
	hintNoKeyring = "start a Secret Service (gnome-keyring, KWallet, KeePassXC) in a session with D-Bus, or use the environment or a file"
	hintLocked    = "unlock the login keyring, then try again; without a desktop: gnome-keyring-daemon --unlock"
	hintSilent    = "the session bus or its Secret Service hangs: sign in anew or restart it, or use the environment or a file"
)

const sizeLimit = fileLimit

const loginCollection dbus.ObjectPath = "/org/freedesktop/secrets/collection/login"

// openRing is the login collection of the Secret Service, or its default one if there is no such collection. It asks
// whether there is a service that answers, and whether it has one of the two. It unlocks no collection. It doesn't start a bus, nor does the library after it, because by
// then the environment names one.
func openRing(ctx context.Context, name string) (ring, error) {
	bus, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer func() { _ = bus.Close() }()
	if err := bus.Auth(nil); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	if err := bus.Hello(); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	secrets := bus.Object("org.freedesktop.secrets", "/org/freedesktop/secrets")
	var collections []dbus.ObjectPath
	err = secrets.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0,
		"org.freedesktop.Secret.Service", "Collections").Store(&collections)
	if err != nil {
		return nil, err
	}
	if slices.Contains(collections, loginCollection) {
		return nativeRing{name}, nil
	}
	var other dbus.ObjectPath
	err = secrets.CallWithContext(ctx, "org.freedesktop.Secret.Service.ReadAlias", 0, "default").Store(&other)
	if err == nil && other == "/" {
		err = errors.New("it has no login keyring yet, and no default one")
	}
	return nativeRing{name}, err
}

// isLocked asks, because the library reports a dialogue that was dismissed in words alone.
func isLocked(error) bool {
	bus, err := service.NewSecretService()
	if err != nil {
		return false
	}
	property, err := bus.GetLoginCollection().GetProperty("org.freedesktop.Secret.Collection.Locked")
	locked, _ := property.Value().(bool)
	return err == nil && locked
}
