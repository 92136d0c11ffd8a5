package secret_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/secret"
)

func TestKeyringThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		ring := secret.BadKeyring(release)
		started := time.Now()
		_, err := ring.Get(t.Context(), "a")
		if d := time.Since(started); d != 3*time.Second {
			t.Errorf("gave up after %v, want 3s", d)
		}
		if e, ok := errors.AsType[*secret.Error](err); !ok || !errors.Is(err, secret.ErrLocked) || e.Hint == "" {
			t.Errorf("error %v, want ErrLocked with a hint", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := ring.Get(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's own", err)
		}
		close(release)
	})
}

func TestKeyringThatPanics(t *testing.T) {
	ring := secret.BadKeyring(nil)
	if err := ring.Set(t.Context(), "a", secret.New(plain)); !errors.Is(err, secret.ErrNoKeyring) {
		t.Errorf("set: %v, want ErrNoKeyring", err)
	}
	if err := ring.Delete(t.Context(), "absent"); err != nil {
		t.Errorf("delete of an absent item: %v", err)
	}
	for _, name := range []string{"", "a b", "a/b", "a\n"} {
		if err := ring.Set(t.Context(), name, secret.New(plain)); !errors.Is(err, secret.ErrNotRef) {
			t.Errorf("set %q: %v, want ErrNotRef", name, err)
		}
	}
}

func TestKeyringTooLong(t *testing.T) {
	ring := secret.BadKeyring(nil) // a write that reached it would panic
	err := ring.Set(t.Context(), "a", secret.New(strings.Repeat(plain, secret.SizeLimit)))
	if e, ok := errors.AsType[*secret.Error](err); !ok || !errors.Is(err, secret.ErrTooLong) || e.Hint == "" {
		t.Errorf("error %v, want ErrTooLong with a hint", err)
	}
	if strings.Contains(err.Error(), plain) || !strings.Contains(err.Error(), strconv.Itoa(secret.SizeLimit)) {
		t.Errorf("error %v, want the limit and nothing of the secret", err)
	}
}
