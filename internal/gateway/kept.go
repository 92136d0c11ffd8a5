package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/policy"
	"unitask/internal/store"
	"unitask/internal/task"
)

// A copy of a request whose account keeps them is a file of its own beside the results, in no record: it needs no place
// there while tasks are listed, and its expiry is the file's.

// mostKept bounds a copy, in bytes. Inline media of a larger request are told by their size and hash in it; one that is
// too large without them isn't kept.
const mostKept = 64 << 10

// keepPatience bounds the storing of a copy: its caller waits for it.
const keepPatience = 5 * time.Second

// omitted takes the place of inline media in a copy.
type omitted struct {
	Omitted struct {
		ContentType string `json:"content_type,omitempty"`
		Bytes       int64  `json:"bytes"`
		SHA256      string `json:"sha256"`
	} `json:"omitted"`
}

// Kept is a task's request as its account keeps it, without the caller's declaration about a person.
type Kept struct {
	Capability string          `json:"capability"`
	Input      json.RawMessage `json:"input"`
	Parameters json.RawMessage `json:"parameters"`
	Until      time.Time       `json:"-"`
}

// copyToKeep returns the copy of a request that the account keeps and for how long; 0 if it keeps no copy.
func (g *Gateway) copyToKeep(a account.Account, req catalog.Request, media []mediaPlace) (time.Duration, []byte) {
	keep := a.Keep()
	if keep <= 0 {
		return 0, nil
	}
	input := req.Input
	if len(input)+len(req.Parameters) > mostKept {
		input = g.withoutData(input, media)
	}
	if len(input)+len(req.Parameters) > mostKept {
		return 0, nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(Kept{Capability: string(req.Capability), Input: input, Parameters: req.Parameters}); err != nil {
		return 0, nil // no request that was decoded comes here
	}
	return min(keep, g.limits.Load().Retention), out.Bytes()
}

// withoutData returns an input with each inline media value replaced by its type, size and hash.
func (g *Gateway) withoutData(input json.RawMessage, media []mediaPlace) json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, p := range media {
		if p.Data == nil {
			continue
		}
		in, err := artifact.NewInline(p.field, p.Data, int64(len(p.Data)))
		if err != nil {
			continue
		}
		var o omitted
		o.Omitted.ContentType, o.Omitted.Bytes, o.Omitted.SHA256 = p.ContentType, in.Len(), hashOf(in, len(p.Data))
		if raw, err := json.Marshal(o); err == nil {
			values[p.pointer] = raw
		}
	}
	return catalog.Replaced(input, values)
}

// hashOf returns the SHA-256 of a reader's bytes in hexadecimal; n is how many there are, roughly.
func hashOf(r io.Reader, n int) string {
	defer bulk.Turn(n)()
	sum := sha256.New()
	_, _ = io.Copy(sum, r)
	return hex.EncodeToString(sum.Sum(nil))
}

// keptID is the file of a task's copy.
func keptID(id string) string { return task.DeriveID(task.PrefixInput, id, "request") }

// keepCopy stores the copy of a request whose task was recorded just now. One that can't be stored in time is done
// without.
func (g *Gateway) keepCopy(ctx context.Context, c store.Created, kept []byte) {
	t := c.Task
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepPatience)
	defer cancel()
	if c.Admit == store.AdmitReopened { // the first copy may expire sooner, or its account keeps none now
		_ = g.artifacts.Delete(ctx, keptID(t.ID))
	}
	if kept == nil || t.InputUntil == nil || !g.mayKeep(ctx, t) {
		return
	}
	_, err := g.artifacts.Put(ctx, artifact.PutRequest{
		ID: keptID(t.ID), Owner: owner(t.Scope), Body: bytes.NewReader(kept), ContentType: "application/json",
		Limit: int64(len(kept)), ExpiresAt: t.InputUntil.Truncate(time.Millisecond), Source: artifact.FromCaller("input"),
	})
	if err != nil && !errors.Is(err, artifact.ErrExists) {
		g.log.Warn("a task's request could not be kept", nameOf(&t), slog.Any("error", err))
	}
}

// mayKeep reports whether the account of a task, as it is now, has its request kept: it may want less than when the
// request came, or can't be read.
func (g *Gateway) mayKeep(ctx context.Context, t task.Task) bool {
	if g.accounts == nil {
		return true
	}
	a, err := g.accounts.GetAccount(ctx, t.Scope.Account)
	if err != nil {
		g.log.Warn("a task's request is not kept: its account could not be read", nameOf(&t), slog.Any("error", err))
		return false
	}
	return a.Keep() > 0 && !a.Forgets.Lost(t.CreatedAt, g.clock.Past().Add(clockSkew))
}

// notKept is the answer about a request that there is no copy of.
func notKept() error {
	return fault.New(fault.NotFound, "the task's input isn't kept: its account keeps none, the time for which it was kept is over, or it was too large")
}

// Recall returns the request of a task that the caller has read, or NOT_FOUND if there is no copy of it any more.
func (g *Gateway) Recall(ctx context.Context, c gate.Caller, t task.Task) (Kept, error) {
	now := g.clock.Past()
	if c.Account.Keep() == 0 || t.Scope != c.Scope() || t.InputUntil == nil || !now.Before(*t.InputUntil) || c.Account.Forgets.Lost(t.CreatedAt, now) {
		return Kept{}, notKept()
	}
	meta, body, err := g.artifacts.Open(ctx, keptID(t.ID))
	if fault.CodeOf(err) == fault.NotFound {
		return Kept{}, notKept()
	}
	if err != nil {
		return Kept{}, err
	}
	defer func() { _ = body.Close() }()
	if meta.Owner != owner(t.Scope) || meta.Expired(now) {
		return Kept{}, notKept()
	}
	raw := make([]byte, meta.Bytes)
	kept := Kept{Until: meta.ExpiresAt}
	if _, err = io.ReadFull(body, raw); err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err != nil {
		return Kept{}, fault.Wrap(fault.Internal, err, "the task's input can't be read")
	}
	return kept, nil
}

// Texts returns what a kept request says in words, as content rules look at it: no bytes, addresses and ids of files.
func (g *Gateway) Texts(k Kept) (texts []string) {
	entry, ok := g.catalog.Load().Get(catalog.Name(k.Capability))
	if !ok {
		return nil
	}
	for _, t := range policy.Prose(entry.Texts(k.Input)) {
		texts = append(texts, t.Text)
	}
	return texts
}

// File describes a file that an input of the caller names, or NOT_FOUND if it is gone or another account's.
func (g *Gateway) File(ctx context.Context, c gate.Caller, id string) (artifact.Meta, error) {
	if !task.ValidID(task.PrefixArtifact, id) {
		return artifact.Meta{}, artifact.NotFound()
	}
	m, err := g.artifacts.Stat(ctx, id)
	if err == nil && (m.Owner != owner(c.Scope()) || m.Expired(g.clock.Past())) {
		err = artifact.NotFound()
	}
	return m, err
}
