package node

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"unitask/internal/config"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
)

// Ability is what a server's chat was found to do, or not to.
type Ability struct {
	Feature string
	Able    bool
	Known   bool   // else the server couldn't be asked
	About   string // why it isn't able or known
}

// ProbeKind is the kind of the suppliers whose settings say what they can do.
func ProbeKind() string { return openai.Kind().Name }

// ProbeFeatures asks a model of a supplier of ProbeKind for each feature by a short chat, which its supplier may
// charge for. An error says why it can't chat at all.
func ProbeFeatures(ctx context.Context, one config.Supplier, model string) ([]Ability, error) {
	one.Models = nil
	one.Options = maps.Clone(one.Options)
	if one.Options == nil {
		one.Options = map[string]string{}
	}
	questions := openai.Questions()
	every := ""
	for _, q := range questions {
		every += q.Feature + " "
	}
	one.Options[openai.OptionFeatures] = every
	kind, adapter, err := newAdapter(one)
	if err != nil {
		return nil, err
	}
	var found []Ability
	for _, q := range questions {
		a := probe(ctx, kind, adapter, q, model)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if q.Feature != "" {
			found = append(found, a)
		} else if !a.Able {
			return nil, errors.New(model + " doesn't chat: " + a.About)
		}
	}
	return found, nil
}

func probe(ctx context.Context, kind supplier.Kind, adapter supplier.Adapter, q openai.Question, model string) Ability {
	a := Ability{Feature: q.Feature, Known: true}
	q.Request.Model = model
	if a.About = supplier.Refuses(kind, adapter, q.Request); a.About != "" {
		return a
	}
	out, err := adapter.Submit(ctx, q.Request)
	switch e := supplier.AsError(err); {
	case err == nil && out.Result != nil && q.Holds(out.Result):
		a.Able = true
	case err == nil:
		a.About = "it answers, but without it"
	case e.Request:
		a.About = fmt.Sprintf("it refuses the request (status %d)", e.Status)
	case e.Status > 0:
		a.Known, a.About = false, fmt.Sprintf("status %d: %s", e.Status, e.Fault.Message)
	default:
		a.Known, a.About = false, e.Fault.Message
	}
	return a
}
