package gateway_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
)

// TestAccountSuspendedMeanwhile: a caller who was let in makes no task once the account is suspended or closed, and a
// large input of such a request isn't kept; it does again once the account is resumed.
func TestAccountSuspendedMeanwhile(t *testing.T) {
	s := &script{submitFn: answer("here")}
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)}, func(w *world) {
		ctx, now := w.t.Context(), time.Now()
		person := w.caller
		person.Key.Hash = task.Hash{}
		for name, step := range map[string]struct {
			state      func(*account.Account)
			key, owner fault.Code
		}{
			"suspended": {func(a *account.Account) { a.SuspendedAt = &now }, fault.Unauthenticated, fault.InvalidRequest},
			"closed":    {func(a *account.Account) { a.ClosedAt = &now }, fault.Unauthenticated, fault.InvalidRequest},
		} {
			w.standing(step.state)
			for _, body := range []string{chat, longChat} {
				_, byKey := w.g.Create(ctx, w.caller, gateway.Submission{IdempotencyKey: "meanwhile-" + name, Wait: new(time.Duration), Body: []byte(body)})
				_, byPerson := w.g.Create(ctx, person, gateway.Submission{IdempotencyKey: "meanwhile-" + name, Wait: new(time.Duration), Body: []byte(body)})
				if fault.CodeOf(byKey) != step.key || fault.CodeOf(byPerson) != step.owner {
					t.Errorf("%s: by a key %v, by a person %v", name, byKey, byPerson)
				}
			}
		}
		if all, err := w.store.ListTasks(ctx, store.ListQuery{Everywhere: true}); err != nil || len(all.Tasks) > 0 {
			t.Errorf("%d tasks, %v", len(all.Tasks), err)
		}
		if err := filepath.WalkDir(w.folder, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%s is kept", path)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		w.standing(func(*account.Account) {})
		if _, err := w.g.Create(ctx, w.caller, gateway.Submission{IdempotencyKey: "resumed-again", Body: []byte(longChat)}); err != nil {
			t.Errorf("resumed: %v", err)
		}
	})
}

// TestKeyClosedMeanwhile: a caller who was let in makes no task once the key is revoked or has expired.
func TestKeyClosedMeanwhile(t *testing.T) {
	s := &script{submitFn: answer("here")}
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)}, func(w *world) {
		now := time.Now()
		for name, state := range map[string]func(*account.Key){
			"revoked": func(k *account.Key) { k.RevokedAt = &now },
			"expired": func(k *account.Key) { k.ExpiresAt = &now },
			"open":    func(*account.Key) {},
		} {
			if _, err := w.store.UpdateKey(w.t.Context(), w.caller.Key.ID, func(k *account.Key) error {
				k.RevokedAt, k.ExpiresAt = nil, nil
				state(k)
				return nil
			}); err != nil {
				w.t.Fatal(err)
			}
			_, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: "meanwhile-" + name, Wait: new(time.Duration), Body: []byte(chat)})
			if refused := fault.CodeOf(err) == fault.Unauthenticated; refused != (name != "open") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// standing gives the caller's account, but not the caller, a state.
func (w *world) standing(state func(*account.Account)) {
	w.t.Helper()
	if _, err := w.store.UpdateAccount(w.t.Context(), w.caller.Account.ID, func(a *account.Account) error {
		a.SuspendedAt, a.ClosedAt = nil, nil
		state(a)
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
}
