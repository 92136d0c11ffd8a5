package suppliertest

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
)

// testJobs checks the abilities' promises about a case's job; a case without one passes.
func testJobs(t *testing.T, h Harness, c Case) {
	bubble := func(name string, ability bool, test func(*testing.T, supplier.Adapter, supplier.Job)) {
		if !ability {
			return
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAdapter(t, h, "", fixedKey)
				if out := submit(t, a, c); out.Job != nil {
					test(t, a, *out.Job)
				}
			})
		})
	}
	bubble("cancel", h.Abilities.Cancel, func(t *testing.T, a supplier.Adapter, j supplier.Job) {
		for range 2 { // an ended job too
			if err := a.(supplier.Canceler).Cancel(t.Context(), stored(t, j)); err != nil {
				t.Errorf("cancel: %v", err)
			}
		}
	})
	bubble("find", h.Abilities.Find, func(t *testing.T, a supplier.Adapter, j supplier.Job) {
		got, found, err := a.(supplier.Finder).Find(t.Context(), filled(c.Request).SubmitKey)
		if err != nil || !found || got.ID != j.ID {
			t.Errorf("find: got %q, %t, %v, want %q", got.ID, found, err, j.ID)
		}
		if _, found, err = a.(supplier.Finder).Find(t.Context(), "task_never/1"); err != nil || found {
			t.Errorf("find what was never sent: found %t, %v", found, err)
		}
	})
	bubble("honor key", h.Abilities.HonorKey, func(t *testing.T, a supplier.Adapter, j supplier.Job) {
		if again := submit(t, a, c); again.Job == nil || again.Job.ID != j.ID {
			t.Errorf("second submission: got %s, want the job of the first", cmp.Diff(&j, again.Job))
		}
	})
}
