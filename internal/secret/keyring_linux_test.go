package secret_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"unitask/internal/secret"
)

// inSession names the part that a re-executed test binary plays inside a session bus of its own.
const inSession = "UNITASK_TEST_SESSION"

const bareBus = `<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`

// answerLimit leaves a busy machine time beside the call's own timeout of 3 s, which is held to the instant in
// TestKeyringThatHangs; without one the keyring would ask a person and wait for ever.
const answerLimit = 10 * time.Second

// TestKeyring runs each part under its own session bus and a real gnome-keyring.
func TestKeyring(t *testing.T) {
	mustHaveKeyring(t)
	const (
		unlock = `printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null && `
		locked = `gnome-keyring-daemon --start --components=secrets >/dev/null && `
	)
	t.Run("unlocked", func(t *testing.T) {
		mustRunInSession(t, newHome(t), unlock, "TestInSessionUnlocked")
	})
	t.Run("locked", func(t *testing.T) {
		home := newHome(t)
		mustRunInSession(t, home, unlock, "TestInSessionUnlocked") // makes the login collection
		mustRunInSession(t, home, locked, "TestInSessionLocked")
	})
	t.Run("no login collection", func(t *testing.T) {
		mustRunInSession(t, newHome(t), locked, "TestInSessionNoCollection")
	})
	for _, test := range []string{"TestInSessionNoService", "TestInSessionSilentService"} {
		t.Run(test, func(t *testing.T) {
			home := newHome(t)
			config := filepath.Join(home, "bus.conf") // names no folder of services that could be activated
			if err := os.WriteFile(config, []byte(bareBus), 0o600); err != nil {
				t.Fatal(err)
			}
			mustRunInSession(t, home, "", test, "--config-file="+config)
		})
	}
}

func TestInSessionUnlocked(t *testing.T) {
	onlyInSession(t)
	ctx := t.Context()
	ring := mustOpen(t)
	if err := ring.Probe(ctx); err != nil {
		t.Fatalf("probe: %v", err)
	}
	largest := secret.New(strings.Repeat("k", secret.SizeLimit))
	if err := ring.Set(ctx, "largest", largest); err != nil {
		t.Errorf("the largest secret: %v", err)
	}
	if got, err := ring.Get(ctx, "largest"); err != nil || !got.Equal(largest) {
		t.Errorf("the largest secret was read as %d bytes, %v", len(got.Reveal()), err)
	}
	if _, err := ring.Get(ctx, "profile"); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("get before set: %v, want ErrNotFound", err)
	}
	for _, text := range []string{"first", "second"} {
		if err := ring.Set(ctx, "profile", secret.New(text)); err != nil {
			t.Fatal(err)
		}
		got, err := mustParse(t, "keyring:profile").Resolve(ctx)
		if err != nil || got.Reveal() != text {
			t.Errorf("resolved %q, %v, want %q", got.Reveal(), err, text)
		}
	}
	if _, err := mustParse(t, "keyring:other/profile").Resolve(ctx); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("another service's item: %v, want ErrNotFound", err)
	}
	for range 2 {
		if err := ring.Delete(ctx, "profile"); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, err := ring.Get(ctx, "profile"); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("get after delete: %v, want ErrNotFound", err)
	}
}

// TestInSessionLocked: a keyring that would have to ask a person says so in time.
func TestInSessionLocked(t *testing.T) {
	onlyInSession(t)
	started := time.Now()
	ring := mustOpen(t)
	for _, err := range []error{ring.Probe(t.Context()), ring.Delete(t.Context(), "profile")} {
		if !errors.Is(err, secret.ErrLocked) {
			t.Errorf("error %v, want ErrLocked", err)
		}
		mustFailWithHint(t, err, started)
	}
	if _, err := ring.Get(t.Context(), "profile"); !errors.Is(err, secret.ErrLocked) {
		t.Errorf("get: %v, want ErrLocked", err)
	}
}

// TestInSessionNoCollection: a keyring that has nowhere to keep anything.
func TestInSessionNoCollection(t *testing.T) {
	onlyInSession(t)
	started := time.Now()
	_, err := secret.OpenKeyring(t.Context(), secret.KeyringConfig{})
	if !errors.Is(err, secret.ErrNoKeyring) {
		t.Errorf("open: %v, want ErrNoKeyring", err)
	}
	mustFailWithHint(t, err, started)
}

func TestInSessionNoService(t *testing.T) {
	onlyInSession(t)
	started := time.Now()
	_, err := secret.OpenKeyring(t.Context(), secret.KeyringConfig{})
	if !errors.Is(err, secret.ErrNoKeyring) {
		t.Errorf("open: %v, want ErrNoKeyring", err)
	}
	mustFailWithHint(t, err, started)
}

// TestInSessionSilentService: a service that takes calls without an answer.
func TestInSessionSilentService(t *testing.T) {
	onlyInSession(t)
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bus.Close() }()
	hang := map[string]any{"Get": func(string, string) (dbus.Variant, *dbus.Error) { select {} }}
	if err := bus.ExportMethodTable(hang, "/org/freedesktop/secrets", "org.freedesktop.DBus.Properties"); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.RequestName("org.freedesktop.secrets", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	mustBeSilent(t)
}

// TestSilentBus: a bus that takes connections and never answers doesn't block the program or the keyring.
func TestSilentBus(t *testing.T) {
	if os.Getenv(inSession) == "silent bus" {
		mustBeSilent(t)
		return
	}
	home := newHome(t)
	address := filepath.Join(home, "bus")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSilentBus$")
	cmd.Env = append(sessionEnv(home, "silent bus"), "DBUS_SESSION_BUS_ADDRESS=unix:path="+address)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// mustBeSilent fails unless opening the keyring reports a silent bus in time.
func mustBeSilent(t *testing.T) {
	t.Helper()
	started := time.Now()
	_, err := secret.OpenKeyring(t.Context(), secret.KeyringConfig{Timeout: time.Second})
	if !errors.Is(err, secret.ErrNoKeyring) || !strings.Contains(err.Error(), "doesn't answer") {
		t.Errorf("open: %v, want ErrNoKeyring and that it doesn't answer", err)
	}
	mustFailWithHint(t, err, started)
}

// TestNoBus: without a session bus the answer comes at once and no bus is launched.
func TestNoBus(t *testing.T) {
	if os.Getenv(inSession) == "no bus" {
		started := time.Now()
		_, err := secret.OpenKeyring(t.Context(), secret.KeyringConfig{})
		if !errors.Is(err, secret.ErrNoKeyring) {
			t.Errorf("open: %v, want ErrNoKeyring", err)
		}
		mustFailWithHint(t, err, started)
		return
	}
	home := newHome(t)
	launched := filepath.Join(home, "launched")
	script := "#!/bin/sh\necho launched >" + launched + "\nexit 1\n"
	if err := os.WriteFile(filepath.Join(home, "dbus-launch"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoBus$")
	cmd.Env = append(sessionEnv(home, "no bus"), "PATH="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(launched); err == nil {
		t.Error("a session bus was launched")
	}
}

func TestKeyringNames(t *testing.T) {
	if _, err := secret.OpenKeyring(t.Context(), secret.KeyringConfig{Service: "a/b"}); !errors.Is(err, secret.ErrNotRef) {
		t.Errorf("a service with a slash gave %v, want ErrNotRef", err)
	}
}

func mustOpen(t *testing.T) *secret.Keyring {
	t.Helper()
	ring, err := secret.OpenKeyring(t.Context(), secret.KeyringConfig{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return ring
}

func mustFailWithHint(t *testing.T, err error, started time.Time) {
	t.Helper()
	e, ok := errors.AsType[*secret.Error](err)
	if !ok || e.Hint == "" || !errors.Is(err, secret.ErrLocked) && !errors.Is(err, secret.ErrNoKeyring) {
		t.Errorf("error %v, want ErrLocked or ErrNoKeyring with a hint", err)
	}
	if d := time.Since(started); d > answerLimit {
		t.Errorf("it took %v, want at most %v", d, answerLimit)
	}
}

func onlyInSession(t *testing.T) {
	t.Helper()
	if os.Getenv(inSession) != t.Name() {
		t.Skip("runs inside TestKeyring")
	}
}

// mustHaveKeyring skips if the machine has no keyring to test with; in CI that is a failure.
func mustHaveKeyring(t *testing.T) {
	t.Helper()
	for _, program := range []string{"bash", "dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is missing; CI must install gnome-keyring and dbus", program)
		}
		t.Skipf("not run: %s is missing (apt-get install gnome-keyring dbus)", program)
	}
}

// mustRunInSession runs one test of this binary in a fresh session whose keyring prepare starts.
func mustRunInSession(t *testing.T, home, prepare, test string, options ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	args := append(options, "--", "bash", "-c", prepare+`exec "$0" "$@"`,
		os.Args[0], "-test.v", "-test.run=^"+test+"$")
	cmd := exec.CommandContext(ctx, "dbus-run-session", args...)
	cmd.Env = append(sessionEnv(home, test), "PATH="+os.Getenv("PATH"))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) || !bytes.Contains(out, []byte("--- PASS: "+test)) {
		t.Errorf("%s: %v\n%s", test, err, out)
	}
	t.Logf("%s", out)
}

func sessionEnv(home, part string) []string {
	return []string{
		inSession + "=" + part, "HOME=" + home, "XDG_RUNTIME_DIR=" + home,
		"XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home,
	}
}

// newHome is a private folder with a short path, for sockets are made in it.
func newHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "ring")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	return home
}
