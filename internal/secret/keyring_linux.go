package secret

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/99designs/keyring"
	"github.com/godbus/dbus/v5"
	service "github.com/zalando/go-keyring/secret_service"

	"unitask/internal/aaguard/nobus"
)

// By now 99designs/keyring has been initialised, and has found no bus.
func init() { nobus.Restore() }

const (
	hintNoKeyring = "start a Secret Service (gnome-keyring, KWallet, KeePassXC) in a session with D-Bus, or use the environment or a file"
	hintLocked    = "unlock the login keyring, then try again; without a desktop: gnome-keyring-daemon --unlock"
	hintSilent    = "the session bus or its Secret Service hangs: sign in anew or restart it, or use the environment or a file"
)

const sizeLimit = fileLimit

const loginCollection dbus.ObjectPath = "/org/freedesktop/secrets/collection/login"

// secretService is the login collection of the Secret Service, or its default one if there is no such collection.
type secretService struct{ nativeRing }

// openRing asks the service for the collection that the library will use: whether there is a service that answers,
// and whether it has one. It unlocks no collection. It doesn't start a bus, nor does the library after it, because by
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
		return secretService{nativeRing{name}}, nil
	}
	var other dbus.ObjectPath
	err = secrets.CallWithContext(ctx, "org.freedesktop.Secret.Service.ReadAlias", 0, "default").Store(&other)
	if err == nil && other == "/" {
		err = errors.New("it has no login keyring yet, and no default one")
	}
	return secretService{nativeRing{name}}, err
}

// Get looks for this version's item, then for those of earlier ones.
func (s secretService) Get(key string) (keyring.Item, error) {
	item, err := s.nativeRing.Get(key)
	if !errors.Is(err, keyring.ErrKeyNotFound) {
		return item, err
	}
	err = s.eachFormer(key, func(bus *service.SecretService, path dbus.ObjectPath) error {
		session, err := bus.OpenSession()
		if err != nil {
			return err
		}
		defer func() { _ = bus.Close(session) }()
		kept, err := bus.GetSecret(path, session.Path())
		if err != nil {
			return err
		}
		if json.Unmarshal(kept.Value, &item) != nil {
			return errors.New("what an earlier version kept is damaged")
		}
		return nil
	})
	return item, err
}

// Set also removes the items of earlier versions.
func (s secretService) Set(item keyring.Item) error {
	if err := s.nativeRing.Set(item); err != nil {
		return err
	}
	if err := s.removeFormer(item.Key); !errors.Is(err, keyring.ErrKeyNotFound) {
		return err
	}
	return nil
}

// Remove takes out both.
func (s secretService) Remove(key string) error {
	err := s.nativeRing.Remove(key)
	if err != nil && !errors.Is(err, keyring.ErrKeyNotFound) {
		return err
	}
	if former := s.removeFormer(key); !errors.Is(former, keyring.ErrKeyNotFound) {
		return former
	}
	return err
}

func (s secretService) removeFormer(key string) error {
	return s.eachFormer(key, (*service.SecretService).Delete)
}

// eachFormer does something with each item that earlier versions kept under key, through 99designs/keyring: its
// attribute is "profile", its secret a keyring.Item in JSON. Without one it is keyring.ErrKeyNotFound. It runs
// after a call of nativeRing, which has unlocked the collection.
func (s secretService) eachFormer(key string, do func(*service.SecretService, dbus.ObjectPath) error) error {
	bus, err := service.NewSecretService()
	if err != nil {
		return err
	}
	found, err := bus.SearchItems(bus.GetLoginCollection(), map[string]string{"profile": key})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return keyring.ErrKeyNotFound
	}
	for _, path := range found {
		if err := do(bus, path); err != nil {
			return err
		}
	}
	return nil
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
