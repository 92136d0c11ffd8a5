package storetest

import (
	"unitask/internal/store"
)

// testPauses pauses suppliers: each has one pause, which lasts over a crash and is no secret's.
func testPauses(e *env) {
	pauses, ok := e.Registry.(store.Pauses)
	if !ok {
		e.Fatal("the engine keeps no pauses")
	}
	secret, err := e.Secrets.Secret(e.Context(), "signing", 32)
	e.wantErr("Secret", err, nil)
	list := func(what string, want ...store.Pause) {
		e.Helper()
		all, err := e.Registry.(store.Pauses).ListPauses(e.Context())
		e.wantErr(what, err, nil)
		e.wantSame(what, append([]store.Pause{}, all...), append([]store.Pause{}, want...))
	}
	list("none")
	now := e.clock.Now().UTC()
	first, second := store.Pause{Supplier: "groq", At: now, By: "ann"}, store.Pause{Supplier: "fal/é", At: now}
	e.wantErr("PutPause", pauses.PutPause(e.Context(), first), nil)
	first.By = "bob"
	e.wantErr("PutPause again", pauses.PutPause(e.Context(), first), nil)
	e.wantErr("PutPause", pauses.PutPause(e.Context(), second), nil)
	list("by name", second, first)
	if e.Crash != nil {
		e.crash()
		list("after the crash", second, first)
		pauses = e.Registry.(store.Pauses)
	}
	if e.Attach != nil {
		all, err := e.Attach(e.T).Registry.(store.Pauses).ListPauses(e.Context())
		e.wantErr("another node", err, nil)
		e.wantSame("at another node", all, []store.Pause{second, first})
	}
	for range 2 {
		e.wantErr("DeletePause", pauses.DeletePause(e.Context(), "groq"), nil)
	}
	list("one is over", second)
	again, err := e.Secrets.Secret(e.Context(), "signing", 32)
	e.wantErr("Secret", err, nil)
	e.wantSame("the secret", again, secret)
}
