// Package replicate is the adapter for Replicate's predictions: one is created, asked after until it has ended, and
// can be canceled. The models' inputs and outputs are configuration (package modelmap); models.yaml holds the
// built-in maps and the patterns of refusals by review.
//
// A submission of text waits for its result in the same exchange; one of media doesn't, because its outcome would
// stay unknown if the connection broke in the meantime. A prediction is told to end with the task's deadline. The
// supplier keeps no key of the caller's by which a submission could be repeated or looked up, so one of unknown
// outcome stays unknown. Files live for an hour at the supplier; a removed result is a failure of the work, since
// asking again is useless.
//
// Invariants: no error holds a model's own words, which are compared and dropped.
package replicate

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"unitask/internal/supplier"
	"unitask/internal/supplier/modelmap"
	"unitask/internal/supplier/upstream"
)

//go:embed models.yaml
var builtin []byte

// OptionWait is for how many seconds, 0 to 60, a submission of text waits for its result.
const OptionWait = "wait"

const (
	mostWait   = 60              // seconds; the supplier's own limit
	waitMargin = 5 * time.Second // that an exchange may take beyond the wait
	// The supplier's bounds of a deadline.
	leastDeadline = 5 * time.Second
	mostDeadline  = 24 * time.Hour

	creationLimit = 16 << 20 // bytes: an awaited text is far shorter
	probeLimit    = 1 << 20  // bytes of an answer of which only the status counts
)

// Kind returns the wire format for the list of kinds.
func Kind() supplier.Kind {
	return supplier.Kind{
		Name: "replicate",
		Capabilities: []string{
			"audio.speech", "audio.transcribe", "image.background_remove", "image.edit", "image.generate", "image.upscale", "text.chat",
			"video.extend", "video.generate",
		},
		Maps: true,
		New:  New,
	}
}

type adapter struct {
	*modelmap.Maps
	format upstream.Format
	wait   int // seconds
}

// New returns an adapter, which is a Poller, a Canceler, a Prober, a Refuser and a Modeler too. Its
// errors are about c.
func New(c supplier.Config) (supplier.Adapter, error) {
	if err := upstream.NoMaxTokensField(c); err != nil {
		return nil, err
	}
	wait, err := waitOf(c)
	if err != nil {
		return nil, err
	}
	client, err := upstream.Connect(c, nil, OptionWait)
	if err != nil {
		return nil, err
	}
	maps, err := modelmap.Load(builtin, c.Models...)
	if err != nil {
		return nil, err
	}
	return &adapter{Maps: maps, format: upstream.Format{Client: client}, wait: wait}, nil
}

// waitOf returns the wait, by default as long as the timeout and the supplier allow.
func waitOf(c supplier.Config) (int, error) {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = upstream.DefaultTimeout
	}
	most := max(0, min(mostWait, int((timeout-waitMargin)/time.Second)))
	text := c.Options[OptionWait]
	if text == "" {
		return most, nil
	}
	wait, err := strconv.Atoi(text)
	if err != nil || wait < 0 || wait > mostWait {
		return 0, errors.New("option wait must be a number of seconds from 0 to 60")
	}
	if wait > most {
		return 0, errors.New("option wait must be 5s shorter than timeout")
	}
	return wait, nil
}

// Submit creates a prediction, once. Failed work is a job all the same: Poll says so.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	name, input, err := a.Input(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	path, version := address(name)
	body, err := json.Marshal(creation{Version: version, Input: input})
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(errors.New("the request can't be encoded"))
	}
	header := http.Header{}
	if deadline, ok := ctx.Deadline(); ok {
		left := min(max(time.Until(deadline), leastDeadline), mostDeadline)
		header.Set("Cancel-After", strconv.FormatFloat(math.Ceil(left.Seconds()), 'f', 0, 64)+"s")
	}
	if strings.HasPrefix(r.Capability, "text.") && a.wait > 0 {
		header.Set("Prefer", "wait="+strconv.Itoa(a.wait))
	}
	answer, err := a.format.Send(ctx, upstream.Call{Path: path, Body: body, Header: header, Limit: creationLimit})
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeCreation(answer, r)
}

type creation struct {
	Version string          `json:"version,omitempty"`
	Input   json.RawMessage `json:"input"`
}

// address returns the path that creates a model's predictions, and the version if the name has one.
func address(name string) (path, version string) {
	if _, version, ok := strings.Cut(name, ":"); ok {
		return "/v1/predictions", version
	}
	return (&url.URL{Path: "/v1/models/" + name + "/predictions"}).EscapedPath(), ""
}

// Poll asks after a prediction.
func (a *adapter) Poll(ctx context.Context, j supplier.Job) (supplier.Outcome, error) {
	s, err := stateOf(j)
	if err != nil {
		return supplier.Outcome{}, err
	}
	answer, err := a.format.Get(ctx, "/v1/predictions/"+j.ID, 0)
	if err != nil {
		return supplier.Outcome{}, err
	}
	p, err := a.decode(answer)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.outcome(p, j, s)
}

// Cancel stops a prediction. One that has ended, or is no longer known, is left as it is.
func (a *adapter) Cancel(ctx context.Context, j supplier.Job) error {
	if _, err := stateOf(j); err != nil {
		return err
	}
	_, err := a.format.Send(ctx, upstream.Call{Path: "/v1/predictions/" + j.ID + "/cancel"})
	if e := supplier.AsError(err); e != nil && e.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// Probe asks for the account, which is free.
func (a *adapter) Probe(ctx context.Context) (keyed bool, err error) {
	return a.format.Probe(ctx, "/v1/account", probeLimit)
}
