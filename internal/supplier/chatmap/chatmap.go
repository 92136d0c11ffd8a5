package chatmap

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/jq"
	"unitask/internal/supplier/upstream"
)

const (
	tokens          = "max_output_tokens"
	parameterTokens = catalog.GroupParameters + "." + tokens
	// defaultTokens bounds an answer if the request doesn't, as the directory and a reservation have it.
	defaultTokens = 1024
)

var (
	errNoMap    = errors.New("the model has no map for the capability")
	errNoChat   = errors.New("the map's program gives no object")
	errNoAnswer = errors.New("the model gave no text")
)

// chats is the wrapped adapter.
type chats struct {
	inner     supplier.Adapter
	kind      supplier.Kind
	plans     map[key]*plan
	directory *catalog.Catalog
}

// moderating and polling are wrapped adapters of the kinds that can do so.
type (
	moderating struct {
		*chats
		supplier.Moderator
	}
	polling struct {
		*chats
		supplier.Poller
	}
)

// Wrap returns the adapter of a kind that Chats with the further capabilities that the maps in files describe, and its
// kind for routes. It is a Modeler, a Templater, a Refuser, a Streamer and a Prober, and a Moderator or a Poller if the
// given one is. Its errors are about the files.
func Wrap(k supplier.Kind, a supplier.Adapter, files []string) (supplier.Kind, supplier.Adapter, error) {
	if !k.Chats {
		return k, nil, fmt.Errorf("the kind %s has no maps of models", k.Name)
	}
	plans, err := load(files)
	if err != nil {
		return k, nil, err
	}
	directory, err := catalog.Default()
	if err != nil {
		return k, nil, err
	}
	c := &chats{inner: a, kind: k, plans: plans, directory: directory}
	k.Maps, k.Refuses = true, nil // Refuses is the adapter's
	switch a := a.(type) {
	case supplier.Moderator:
		return k, moderating{c, a}, nil
	case supplier.Poller:
		return k, polling{c, a}, nil
	default:
		return k, c, nil
	}
}

// Knows reports whether the kind serves the capability, or a map of the model's does.
func (c *chats) Knows(name catalog.Name, model string) bool {
	return c.kind.Serves(name) || c.plan(name, model) != nil
}

// Template returns the bytes of the map's programs, which hold all text that isn't the request's or its schema's; of a
// model without a map, what the adapter says.
func (c *chats) Template(name catalog.Name, model string) int {
	if p := c.plan(name, model); p != nil {
		return p.bytes
	}
	if t, ok := c.inner.(supplier.Templater); ok {
		return t.Template(name, model)
	}
	return 0
}

// plan returns the map of a model, nil if it has none.
func (c *chats) plan(name catalog.Name, model string) *plan {
	if p := c.plans[key{name, model}]; p != nil {
		return p
	}
	return c.plans[key{name, anyModel}]
}

// Refuses says why the model can't honour the request; "" when it can.
func (c *chats) Refuses(r supplier.Request) string {
	chat, _, err := c.chat(context.Background(), r)
	if err != nil {
		return err.Error()
	}
	return supplier.Refuses(c.kind, c.inner, chat)
}

// Submit sends the request once, as a chat if a map makes it one.
func (c *chats) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	chat, mapped, err := c.chat(ctx, r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	out, err := c.inner.Submit(ctx, chat)
	if err != nil || !mapped {
		return out, err
	}
	return answered(out)
}

// Stream is Submit for mapped capabilities.
func (c *chats) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	streamer, ok := c.inner.(supplier.Streamer)
	if _, mapped := c.planOf(r); mapped || !ok {
		return c.Submit(ctx, r)
	}
	return streamer.Stream(ctx, r, delta)
}

// Probe asks the supplier something that is free; errors.ErrUnsupported if it can't be asked.
func (c *chats) Probe(ctx context.Context) (keyed bool, err error) {
	if p, ok := c.inner.(supplier.Prober); ok {
		return p.Probe(ctx)
	}
	return false, errors.ErrUnsupported
}

// planOf returns the map of a request; mapped is false for the kind's own capabilities, which have none.
func (c *chats) planOf(r supplier.Request) (p *plan, mapped bool) {
	if c.kind.Serves(catalog.Name(r.Capability)) {
		return nil, false
	}
	return c.plan(catalog.Name(r.Capability), r.Model), true
}

// chat returns the chat of a mapped request, and any other request as it is.
func (c *chats) chat(ctx context.Context, r supplier.Request) (chat supplier.Request, mapped bool, err error) {
	p, mapped := c.planOf(r)
	switch {
	case !mapped:
		return r, false, nil
	case p == nil:
		return r, true, errNoMap
	}
	if why := p.honours.Refuses(r); why != "" {
		return r, true, errors.New(why)
	}
	input, parameters, err := p.run(ctx, r)
	if err != nil {
		return r, true, err
	}
	if err := complete(parameters, r); err != nil {
		return r, true, err
	}
	chat = r
	chat.Capability, chat.Model, chat.OutputSchema = string(catalog.TextChat), cmp.Or(p.name, r.Model), nil
	if chat.Input, err = jq.Encode(input); err == nil {
		chat.Parameters, err = jq.Encode(parameters)
	}
	if err != nil {
		return r, true, err
	}
	if f := c.directory.Validate(catalog.Request{Capability: catalog.TextChat, Input: chat.Input, Parameters: chat.Parameters}); f != nil {
		return r, true, fmt.Errorf("the map makes no valid chat: %w", f)
	}
	return chat, true, nil
}

// run returns what the programs make of a request.
func (p *plan) run(ctx context.Context, r supplier.Request) (input, parameters map[string]any, err error) {
	defer bulk.Turn(len(r.Input))()
	in, err := jq.Decode(r.Input)
	if err != nil {
		return nil, nil, err
	}
	given, err := jq.Decode(r.Parameters)
	if err != nil {
		return nil, nil, err
	}
	request := map[string]any{catalog.GroupInput: in, catalog.GroupParameters: given}
	if input, err = object(ctx, p.input, request); err != nil {
		return nil, nil, err
	}
	if p.parameters == nil {
		return input, map[string]any{}, nil
	}
	parameters, err = object(ctx, p.parameters, request)
	return input, parameters, err
}

func object(ctx context.Context, program *jq.Program, request map[string]any) (map[string]any, error) {
	v, err := program.Run(ctx, request)
	if err != nil {
		return nil, err
	}
	made, ok := v.(map[string]any)
	if !ok {
		return nil, errNoChat
	}
	return made, nil
}

// complete adds the output schema to a chat's parameters, and the bound of its tokens: the request's, or the
// directory's default, unless the map has a lower one.
func complete(parameters map[string]any, r supplier.Request) error {
	schema, err := jq.Decode(r.OutputSchema)
	if err != nil {
		return err
	}
	parameters[catalog.OutputSchema] = schema
	var given struct {
		Tokens float64 `json:"max_output_tokens"`
	}
	if err := json.Unmarshal(r.Parameters, &given); err != nil {
		return errors.New("the parameters don't fit this kind")
	}
	most := float64(defaultTokens)
	if given.Tokens > 0 {
		most = given.Tokens
	}
	var own float64
	switch n := parameters[tokens].(type) {
	case int:
		own = float64(n)
	case float64:
		own = n
	}
	if own <= 0 || own > most {
		parameters[tokens] = int(most)
	}
	return nil
}

// answered turns a chat's text into the output, which the gateway holds to its schema.
func answered(out supplier.Outcome) (supplier.Outcome, error) {
	if out.Result == nil || out.Result.Text == nil {
		return supplier.Outcome{}, upstream.Failure(supplier.Unknown, fault.ProviderUnavailable, errNoAnswer)
	}
	r := *out.Result
	r.Data, r.Text = json.RawMessage(*r.Text), nil
	if r.FinishReason != supplier.FinishToolCalls {
		r.FinishReason = ""
	}
	return supplier.Outcome{Result: &r}, nil
}
