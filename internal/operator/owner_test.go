package operator_test

import (
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/secret"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestOperatorKeys: only the owner of the data folder makes operator keys, rotates them and changes their expiry; any
// operator revokes them, and members don't see them.
func TestOperatorKeys(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	owner := operator.Owner{Operator: o.Operator}
	made := fixture.Must(owner.CreateKey(ctx, api.KeyCreate{Name: "ops", Mode: account.Operator, ExpiresInSeconds: 3600}))(t)
	enters := func(secret string) bool {
		caller, err := o.gate.AuthenticateOperator(ctx, "Bearer "+secret)
		if err != nil {
			return false
		}
		if caller.Account.ID != "" {
			t.Errorf("the operator acts for the account %s", caller.Account.ID)
		}
		return true
	}
	if !enters(made.Secret) || o.opens(made.Secret) {
		t.Fatal("the key must open the operator's API and nothing else")
	}

	_, visitor, err := o.SignIn(ctx, o.invited("default", "ann", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	m := o.Member(visitor)
	if keys := fixture.Must(m.Keys(ctx))(t); len(keys) != 0 {
		t.Errorf("a member sees %+v", keys)
	}
	longer := api.KeyUpdate{ExpiresInSeconds: new(int64(86400))}
	for name, try := range map[string]func() error{
		"an operator's creation": func() error {
			_, err := o.CreateKey(ctx, api.KeyCreate{Name: "x", Mode: account.Operator})
			return err
		},
		"an operator's rotation": func() error { _, err := o.RotateKey(ctx, made.ID, api.KeyRotate{}); return err },
		"an operator's delay":    func() error { _, err := o.UpdateKey(ctx, made.ID, longer); return err },
		"a member's creation": func() error {
			_, err := m.CreateKey(ctx, api.KeyCreate{Name: "x", Mode: account.Operator})
			return err
		},
		"a bootstrap key": func() error {
			return o.Bootstrap(ctx, secret.New(account.NewKeySecret("svc", account.Operator)))
		},
	} {
		wantCode(t, name, try(), fault.InvalidRequest)
	}
	_, rotate := m.RotateKey(ctx, made.ID, api.KeyRotate{})
	_, revoke := m.RevokeKey(ctx, made.ID)
	wantCode(t, "a member's rotation", rotate, fault.NotFound)
	wantCode(t, "a member's revocation", revoke, fault.NotFound)
	if keys := fixture.Must(o.ListKeys(ctx))(t); len(keys) != 1 || keys[0].Mode != account.Operator || keys[0].Account+made.Account != "" {
		t.Errorf("after refusals there are %+v", keys)
	}

	for name, req := range map[string]api.KeyCreate{
		"scopes":     {Scopes: []string{"*"}},
		"limits":     {Limits: api.Limits{OpenTasks: 1}},
		"an account": {Account: "shop"},
	} {
		req.Name, req.Mode = "x", account.Operator
		_, err := owner.CreateKey(ctx, req)
		wantCode(t, name, err, fault.InvalidRequest)
	}
	_, err = owner.UpdateKey(ctx, made.ID, api.KeyUpdate{Limits: &api.LimitsUpdate{OpenTasks: new(1)}})
	wantCode(t, "limits of one that is there", err, fault.InvalidRequest)

	fixture.Must(owner.UpdateKey(ctx, made.ID, longer))(t)
	o.advance(2 * time.Hour)
	if !enters(made.Secret) {
		t.Error("the owner can't extend a key")
	}
	next := fixture.Must(owner.RotateKey(ctx, made.ID, api.KeyRotate{}))(t)
	if enters(made.Secret) || !enters(next.Secret) {
		t.Error("the owner's rotation")
	}
	fixture.Must(o.RevokeKey(ctx, next.ID))(t)
	if enters(next.Secret) {
		t.Error("a revoked key opens the operator's API")
	}
	other := fixture.Must(o.CreateKey(ctx, api.KeyCreate{Name: "other", Mode: task.Live}))(t)
	if enters(other.Secret) || !o.opens(other.Secret) {
		t.Error("a live key at the operator's API")
	}
}
