package e2e_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/test/harness"
)

// TestLoginIntoKeyring keeps a key in a real gnome-keyring on a machine without a desktop, uses it and
// takes it out again.
func TestLoginIntoKeyring(t *testing.T) {
	bus := need(t, "dbus-run-session")
	need(t, "gnome-keyring-daemon")
	h := newHost(t).start()
	out := h.inSession(bus, `set -eu
printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null
printf '%s\n' "$THE_KEY" | "$UNITASK" login
unset THE_KEY
"$UNITASK" whoami
"$UNITASK" profiles rename 127.0.0.1 work
"$UNITASK" run text.chat "Say hello" --profile work
"$UNITASK" logout
if "$UNITASK" run text.chat "Say hello" --base-url "$UNITASK_BASE_URL"; then echo "still signed in"; exit 1; fi
grep -r "svc_test_" "$HOME" --include='*.json' --include='*.yaml' --include='*.toml' && { echo "a key in clear"; exit 1; }
echo "session done"
`)
	if strings.Contains(out, h.key) {
		t.Error("a command printed the key")
	}
	if !strings.Contains(out, "keyring") || !strings.Contains(strings.ToLower(out), "hello") {
		t.Errorf("whoami and run printed:\n%s", out)
	}
}

// TestLockedKeyring: after the next sign-in the keyring is locked, and no person can unlock it.
func TestLockedKeyring(t *testing.T) {
	bus := need(t, "dbus-run-session")
	need(t, "gnome-keyring-daemon")
	h := newHost(t).start()
	h.inSession(bus, `set -eu
printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null
printf '%s\n' "$THE_KEY" | "$UNITASK" login
echo "session done"
`)
	out := h.inSession(bus, `set -u
gnome-keyring-daemon --start --components=secrets >/dev/null
"$UNITASK" run text.chat "Say hello"; echo "exit $?"
printf '%s\n' "$THE_KEY" | "$UNITASK" login; echo "exit $?"
echo "session done"
`)
	if strings.Count(out, "exit 4\n") != 2 || !strings.Contains(out, "hint: unlock the login keyring") || !strings.Contains(out, "login --storage=file") {
		t.Errorf("run and login with a locked keyring said:\n%s", out)
	}
}

// inSession runs a shell script in a session bus of its own, at the home of the test, and returns its output, which
// ends with "session done".
func (h *host) inSession(bus, text string) string {
	h.T.Helper()
	script := filepath.Join(h.Dir, "session.sh")
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		h.T.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(h.T.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bus, "--", "bash", script)
	home := filepath.Join(h.Dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		h.T.Fatal(err)
	}
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_DATA_HOME=" + filepath.Join(home, "share"),
		"UNITASK_CONFIG_DIR=" + filepath.Join(home, "config"), "UNITASK_BASE_URL=" + h.Base, "UNITASK=" + harness.Binary(), "THE_KEY=" + h.key,
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(out.String()), "session done") {
		h.T.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}
