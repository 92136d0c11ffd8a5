package operator_test

import (
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestMemberChangesExpiry: a member brings the expiry of a key forward, and an operator alone puts it off.
func TestMemberChangesExpiry(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	given := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "given", Mode: task.Live, Account: "shop", ExpiresInSeconds: 3600}))(t)
	_, visitor, err := o.SignIn(ctx, o.invited("shop", "ann", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	m := o.Member(visitor)
	own := fixture.Must(m.CreateKey(ctx, api.KeyCreate{Name: "own", Mode: task.Live}))(t)
	for _, tt := range []struct {
		id      string
		life    int64
		allowed bool
	}{
		{given.ID, 7200, false},
		{given.ID, 0, false},
		{given.ID, 3600, true},
		{given.ID, 60, true},
		{given.ID, 61, false},
		{own.ID, 0, true},
		{own.ID, 7200, true},
		{own.ID, 7201, false},
		{own.ID, 60, true},
	} {
		got, err := m.UpdateKey(ctx, tt.id, api.KeyUpdate{ExpiresInSeconds: &tt.life})
		if !tt.allowed {
			wantCode(t, "an expiry that is put off", err, fault.InvalidRequest)
			continue
		}
		if left := int64(0); err != nil || got.ExpiresAt == nil != (tt.life == 0) {
			t.Errorf("%s for %d s: %+v, %v", tt.id, tt.life, got, err)
		} else if got.ExpiresAt != nil {
			if left = int64(got.ExpiresAt.Sub(o.now()).Seconds()); left != tt.life {
				t.Errorf("%s lives %d s, want %d", tt.id, left, tt.life)
			}
		}
	}
	o.advance(time.Minute)
	if o.opens(given.Secret) || o.opens(own.Secret) {
		t.Error("a key whose life is over is taken")
	}
}

// TestOperatorPutsExpiryOff: an operator's word about an expiry holds either way.
func TestOperatorPutsExpiryOff(t *testing.T) {
	o := newTestOperator(t)
	k := fixture.Must(o.CreateKey(t.Context(), api.KeyCreate{Name: "shop", Mode: task.Live, ExpiresInSeconds: 60}))(t)
	fixture.Must(o.UpdateKey(t.Context(), k.ID, api.KeyUpdate{ExpiresInSeconds: new(int64(7200))}))(t)
	o.advance(time.Hour)
	if !o.opens(k.Secret) {
		t.Error("a key whose expiry was put off is refused")
	}
}
