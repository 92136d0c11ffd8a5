package httpmap

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/jq"
	"unitask/internal/supplier/upstream"
)

var (
	errNoMap = errors.New("the model has no map for the capability")
	errForm  = errors.New("the program of the form gives no object of texts, numbers, media and lists of them")
)

// Refuses says why the model can't honour the request; "" when it can. A program is asked only if it can refuse: if it
// has an error of its own. It sees no media then.
func (a *adapter) Refuses(r supplier.Request) string {
	p := a.planOf(r)
	if p == nil {
		return errNoMap.Error()
	}
	if p.body == nil {
		if _, err := p.rules.Body(r, true); err != nil {
			return err.Error()
		}
		return ""
	}
	if why := p.honours.Refuses(r); why != "" || len(p.body.Errors()) == 0 {
		return why
	}
	_, err := p.run(context.Background(), r, nil)
	if own, ok := errors.AsType[*jq.Error](err); ok {
		return own.Text
	}
	return ""
}

func (a *adapter) planOf(r supplier.Request) *plan {
	return a.plans[planKey{catalog.Name(r.Capability), r.Model}]
}

// call returns the one call of a submission.
func (p *plan) call(ctx context.Context, r supplier.Request) (upstream.Call, error) {
	c := upstream.Call{Method: p.method, Path: p.path.path(p.name, ""), Header: http.Header{}}
	for name, value := range p.headers {
		c.Header.Set(name, strings.NewReplacer(theModel, p.name, theKey, r.SubmitKey).Replace(string(value)))
	}
	if p.body == nil {
		body, err := p.rules.Body(r, false)
		if err != nil {
			return c, upstream.Unfit(err)
		}
		c.Body, err = jsonv2.Marshal(body, jsonv2.Deterministic(true))
		if err != nil {
			return c, upstream.Unfit(errors.New("the request can't be encoded"))
		}
		return c, nil
	}
	if why := p.honours.Refuses(r); why != "" {
		return c, upstream.Unfit(errors.New(why))
	}
	media, err := standIns(r.Media, p.body)
	if err != nil {
		return c, upstream.Unfit(err)
	}
	v, err := p.run(ctx, r, media)
	if err != nil {
		return c, unfit(err)
	}
	if p.form {
		return formCall(c, v, r.Media)
	}
	if c.Body, err = jq.Encode(v); err != nil {
		return c, upstream.Unfit(errors.New("the request can't be encoded"))
	}
	return c, nil
}

// unfit is the end of a request whose body a program didn't make: nothing was sent, and another route may do it.
func unfit(err error) error {
	code := fault.Internal
	if _, own := errors.AsType[*jq.Error](err); own {
		code = fault.InvalidRequest
	}
	e := upstream.Failure(supplier.NotSent, code, err)
	e.Request = true
	return e
}

// run has the program make the body of a request, whose media have stand-ins; nil: they aren't known yet.
func (p *plan) run(ctx context.Context, r supplier.Request, media map[string]any) (any, error) {
	defer bulk.Turn(len(r.Input))()
	input, err := jq.DecodeWithout(r.Input, slices.Collect(maps.Keys(media))...)
	if err != nil {
		return nil, err
	}
	parameters, err := jq.Decode(r.Parameters)
	if err != nil {
		return nil, err
	}
	for pointer, v := range media {
		place(input, pointer, v)
	}
	if media == nil {
		input = unread(input)
	}
	if members, ok := input.(map[string]any); ok {
		delete(members, "authorization")
	}
	return p.body.Run(ctx, map[string]any{"model": p.name, "key": r.SubmitKey, "input": input, "parameters": parameters})
}
