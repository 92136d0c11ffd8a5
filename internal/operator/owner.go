package operator

import (
	"context"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
)

// Owner is the operations of whoever may open the data folder: those of an Operator, and on operator keys too. An
// operator who has a key or a session alone makes no operator key and extends none, so that a revocation is the end.
type Owner struct{ *Operator }

// CreateKey is Operator.CreateKey, also for the mode of operators.
func (o Owner) CreateKey(ctx context.Context, req api.KeyCreate) (api.Key, error) {
	k, err := anyKeyFrom(req, o.Now())
	if err != nil {
		return api.Key{}, err
	}
	return o.createKey(ctx, k, req.Account)
}

// UpdateKey is Operator.UpdateKey, also for the expiry of operator keys.
func (o Owner) UpdateKey(ctx context.Context, id string, u api.KeyUpdate) (api.Key, error) {
	return o.changeKey(ctx, id, u, operatorChange)
}

// RotateKey is Operator.RotateKey, also for operator keys.
func (o Owner) RotateKey(ctx context.Context, id string, req api.KeyRotate) (api.Key, error) {
	return o.rotateKey(ctx, id, req, func(account.Key) error { return nil })
}

func ownersAlone() error {
	return fault.Invalid("mode", "operator is for whoever may open the data folder: such keys are made, rotated and extended there, and revoked anywhere")
}

// PauseSupplier is Operator.PauseSupplier.
func (o Owner) PauseSupplier(ctx context.Context, name string) (api.SupplierState, error) {
	return o.Operator.PauseSupplier(ctx, name, OwnerName)
}

// OwnerName is who paused a supplier by the data folder's right.
const OwnerName = "the server's owner"
