package operator

import (
	"context"
	"slices"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/store"
)

// PauseSupplier has no work sent to a supplier until it is resumed, also after a restart: here at once, at other nodes
// within two seconds. Work under way goes on. by is who asks for it, for people.
func (o *Operator) PauseSupplier(ctx context.Context, name, by string) (api.SupplierState, error) {
	return o.changeSupplier(ctx, name, func(s store.Pauses, was *api.SupplierState) error {
		if was.Paused != nil {
			return nil // the first pause stays, with its name
		}
		return s.PutPause(ctx, store.Pause{Supplier: name, At: o.Now().UTC(), By: by})
	})
}

// ResumeSupplier ends a supplier's pause. One without a pause stays as it is.
func (o *Operator) ResumeSupplier(ctx context.Context, name string) (api.SupplierState, error) {
	return o.changeSupplier(ctx, name, func(s store.Pauses, _ *api.SupplierState) error { return s.DeletePause(ctx, name) })
}

// ResetSupplier forgets the failures of a supplier's routes and the pauses that came of them: its next request is sent.
func (o *Operator) ResetSupplier(ctx context.Context, name string) (api.SupplierState, error) {
	return o.changeSupplier(ctx, name, func(store.Pauses, *api.SupplierState) error {
		o.ResetFunc(name)
		return nil
	})
}

// changeSupplier changes a supplier that has routes, or had them when it was paused, and returns how it stands.
func (o *Operator) changeSupplier(
	ctx context.Context, name string, change func(store.Pauses, *api.SupplierState) error,
) (api.SupplierState, error) {
	pauses, kept := o.Store.(store.Pauses)
	if o.PausesFunc == nil || o.ResetFunc == nil || !kept {
		return api.SupplierState{}, fault.New(fault.InvalidRequest, "suppliers are paused, resumed and reset at a running server")
	}
	was, err := o.supplier(ctx, name)
	if err == nil {
		err = change(pauses, &was)
	}
	if err == nil {
		err = o.PausesFunc(ctx)
	}
	if err != nil {
		return api.SupplierState{}, err
	}
	return o.supplier(ctx, name)
}

// supplier returns how one with routes or a pause stands; NOT_FOUND without it.
func (o *Operator) supplier(ctx context.Context, name string) (api.SupplierState, error) {
	all, err := o.Suppliers(ctx)
	if err != nil {
		return api.SupplierState{}, err
	}
	i := slices.IndexFunc(all, func(s api.SupplierState) bool { return s.Name == name && (len(s.Routes) > 0 || s.Paused != nil) })
	if i < 0 {
		return api.SupplierState{}, fault.New(fault.NotFound, "there is no such supplier with routes")
	}
	return all[i], nil
}

// addPauses adds the operators' pauses.
func (o *Operator) addPauses(ctx context.Context, states []api.SupplierState) error {
	pauses, ok := o.Store.(store.Pauses)
	if !ok {
		return nil
	}
	all, err := pauses.ListPauses(ctx)
	for _, p := range all {
		for i := range states {
			if states[i].Name == p.Supplier {
				states[i].Paused = &api.SupplierPause{Since: api.Timestamp{Time: p.At}, By: p.By}
			}
		}
	}
	return err
}
