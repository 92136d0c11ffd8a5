package sim_test

import (
	"bytes"
	"context"
	"errors"
	stdimage "image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// poll asks the supplier after a job.
func (d client) poll(ctx context.Context, j supplier.Job) (supplier.Outcome, error) {
	p := d.n.w.up.find(d.f, j.ID)
	if p == nil {
		return supplier.Outcome{}, refused(supplier.Failed, fault.ProviderUnavailable)
	}
	d.n.w.up.mu.Lock()
	p.polls++
	rng := d.n.w.choices.of("poll/"+d.f.name, p.key+"/"+tail(p.submitKey), p.polls)
	d.n.w.up.mu.Unlock()
	d.n.crashPoint(duringPoll)
	if err := d.trouble(ctx, rng); err != nil {
		return supplier.Outcome{}, err
	}
	return d.state(p, j, rng)
}

// tail is the attempt's number: the rest of a submit key differs from run to run.
func tail(submitKey string) string { return submitKey[strings.LastIndexByte(submitKey, '/'):] }

// trouble is a failure between a question and its answer.
func (d client) trouble(ctx context.Context, rng *rand.Rand) error {
	n := rng.IntN(100)
	if err := d.travel(ctx, between(rng, time.Millisecond, 30*time.Millisecond)); err != nil {
		return supplier.NewError(supplier.NotSent, fault.ProviderTimeout, "too late", err)
	}
	switch {
	case d.n.w.calm.Load() || n >= 9:
		return nil
	case n < 4:
		return lost(fault.ProviderUnavailable)
	case n < 6:
		_ = d.travel(ctx, exchangeTime)
		return lost(fault.ProviderTimeout)
	case n < 8:
		e := refused(supplier.Refused, fault.CapacityExhausted)
		e.RetryAfter = between(rng, time.Second, 20*time.Second)
		return e
	default:
		return supplier.NewError(supplier.Unknown, fault.ProviderUnavailable, "malformed", nil)
	}
}

// state is the job's, now.
func (d client) state(p *workItem, j supplier.Job, rng *rand.Rand) (supplier.Outcome, error) {
	d.n.w.up.mu.Lock()
	defer d.n.w.up.mu.Unlock()
	switch {
	case p.fate == never || time.Now().Before(p.endsAt):
		if oneIn(rng, 3) {
			j.Progress = new(rng.Float64())
		}
		j.PollAfter = d.advice(rng)
		return supplier.Outcome{Job: &j}, nil
	case p.fate != succeeds:
		return supplier.Outcome{}, refused(supplier.Failed, fault.ProviderUnavailable)
	default:
		return d.result(p), nil
	}
}

// cancel stops work that isn't done. Half of the stopped work is charged all the same.
func (d client) cancel(ctx context.Context, j supplier.Job) error {
	p := d.n.w.up.find(d.f, j.ID)
	if p == nil {
		return nil
	}
	rng := d.n.w.choices.of("cancel/"+d.f.name, p.key+"/"+tail(p.submitKey), 0)
	if err := d.trouble(ctx, rng); err != nil {
		return err
	}
	d.n.w.up.mu.Lock()
	defer d.n.w.up.mu.Unlock()
	if !p.stopped && time.Now().Before(p.endsAt) {
		p.stopped = true
		if oneIn(rng, 2) {
			p.fate, p.endsAt = fails, time.Now()
		}
	}
	return nil
}

// find looks a submission up.
func (d client) find(ctx context.Context, submitKey string) (supplier.Job, bool, error) {
	rng := d.n.w.choices.of("find/"+d.f.name, tail(submitKey), time.Now().UnixNano())
	if err := d.trouble(ctx, rng); err != nil {
		return supplier.Job{}, false, err
	}
	return supplier.Job{ID: submitKey, PollAfter: d.advice(rng)}, d.n.w.up.find(d.f, submitKey) != nil, nil
}

// result is the result of a finished workItem.
func (d client) result(p *workItem) supplier.Outcome {
	r := &supplier.Result{Usage: p.usage}
	if d.f.says {
		r.Charged = new(int64(p.charge()))
	}
	if !d.f.jobs {
		r.Text, r.FinishReason = new(answerTo(p.key)), "stop"
		return supplier.Outcome{Result: r}
	}
	rng := d.n.w.choices.of("file/"+d.f.name, p.key+"/"+tail(p.submitKey), 0)
	file := supplier.File{ContentType: "image/png"}
	switch n := rng.IntN(10); {
	case n < 4:
		file.Data = p.picture()
	case n < 7:
		file.URL = p.supplier.name + " " + p.submitKey
	default:
		file.Open = func(context.Context) (io.ReadCloser, error) { return d.n.w.up.open(p) }
	}
	r.Files = []supplier.File{file}
	return supplier.Outcome{Result: r}
}

// blank is a picture; bytes behind its end make it distinct for each workItem.
var blank = func() []byte {
	var raw bytes.Buffer
	picture := stdimage.NewGray(stdimage.Rect(0, 0, 8, 4))
	picture.Set(1, 1, color.White)
	if err := png.Encode(&raw, picture); err != nil {
		panic(err)
	}
	return raw.Bytes()
}()

func (p *workItem) picture() []byte {
	return append(bytes.Clone(blank), p.supplier.name+p.key+tail(p.submitKey)...)
}

// open brings a result file. The first tries may fail in one way or another; one in forty
// never comes while there are faults.
func (u *upstream) open(p *workItem) (io.ReadCloser, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	rng := u.w.choices.of("fetch/"+p.supplier.name, p.key+"/"+tail(p.submitKey), 0)
	bad, kind := rng.IntN(3), rng.IntN(3)
	if oneIn(rng, 40) {
		bad = 1000
	}
	if p.opens++; p.opens > bad || u.w.calm.Load() {
		return io.NopCloser(bytes.NewReader(p.picture())), nil
	}
	switch kind {
	case 0:
		return nil, fault.New(fault.ProviderUnavailable, "no connection")
	case 1:
		return io.NopCloser(io.MultiReader(bytes.NewReader(blank[:20]), broken{})), nil
	default:
		return io.NopCloser(strings.NewReader("<html>expired</html>")), nil
	}
}

// broken is a body that breaks off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the body broke off") }

// Fetch brings a result from its address.
func (u *upstream) Fetch(_ context.Context, r artifact.FetchRequest) (*artifact.Fetched, error) {
	name, submitKey, _ := strings.Cut(r.URL, " ")
	u.mu.Lock()
	p := u.work[name+"/"+submitKey]
	u.mu.Unlock()
	body, err := u.open(p)
	if err != nil {
		return nil, err
	}
	return &artifact.Fetched{ReadCloser: body}, nil
}

// RefusesURL implements gateway.Fetcher.
func (u *upstream) RefusesURL(string) string { return "" }
