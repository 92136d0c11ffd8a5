package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// New returns an adapter of the class that c.Options names: it is a Poller, Canceler, Streamer and
// Prober always, a KeyHonorer or a Finder by its class.
func New(c supplier.Config) (supplier.Adapter, error) {
	s, err := readOptions(c.Options)
	if err != nil {
		return nil, err
	}
	a := &adapter{name: c.Name, settings: s, memory: &memory{
		archive: archive{dir: s.dir}, jobs: map[string]supplier.Job{}, canceled: map[string]bool{}, keys: map[string]string{},
	}}
	switch s.class {
	case ClassFindable:
		return findable{a}, nil
	case ClassNeither:
		return a, nil
	default:
		return honoring{a}, nil
	}
}

// adapter is one sandbox supplier, and by itself the class without promises.
type adapter struct {
	settings
	name   string
	memory *memory
	count  atomic.Uint64 // submissions, to tell those of one key apart
}

// honoring is the class that treats a second submission with one key as the first.
type honoring struct{ *adapter }

// HonorsSubmitKey says that it does.
func (honoring) HonorsSubmitKey() bool { return true }

// findable is the class that can look a submission up.
type findable struct{ *adapter }

// Find returns the job that the key's submission began in this process.
func (f findable) Find(ctx context.Context, submitKey string) (supplier.Job, bool, error) {
	if err := interrupted(ctx, supplier.NotSent); err != nil {
		return supplier.Job{}, false, err
	}
	job, found := f.memory.find(submitKey)
	return job, found, nil
}

// Submit does the work of a synchronous capability and begins that of an asynchronous one.
func (a *adapter) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	return a.submit(ctx, r, nil)
}

// Stream is Submit that delivers a text word by word.
func (a *adapter) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	return a.submit(ctx, r, delta)
}

// Probe says that the sandbox is there.
func (a *adapter) Probe(ctx context.Context) (keyed bool, err error) {
	return false, interrupted(ctx, supplier.NotSent)
}

// Cancel makes the job's next poll fail, as far as this process began it.
func (a *adapter) Cancel(ctx context.Context, j supplier.Job) error {
	a.memory.cancel(j.ID)
	return interrupted(ctx, supplier.NotSent)
}

func (a *adapter) submit(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	if err := interrupted(ctx, supplier.NotSent); err != nil {
		return supplier.Outcome{}, err
	}
	s, r := shapeOf(r)
	w, m, err := a.accept(r)
	if err != nil {
		return supplier.Outcome{}, err
	}
	w.shaped = s
	job, err := a.begin(r, w, m)
	if err != nil {
		return supplier.Outcome{}, err
	}
	if err := pause(ctx, a.latency); err != nil {
		return supplier.Outcome{}, err
	}
	if services[r.Capability].async {
		return supplier.Outcome{Job: &job}, nil
	}
	return a.answer(ctx, w, delta)
}

// accept reads the request and refuses it if its magic inputs say so.
func (a *adapter) accept(r supplier.Request) (work, magic, error) {
	if reason := refuses(r); reason != "" {
		return work{}, magic{}, refusal(reason)
	}
	product, text, err := services[r.Capability].read(r)
	if err != nil {
		return work{}, magic{}, err
	}
	m := readMagic(text)
	switch {
	case m.malformed:
		return work{}, m, refusal("a magic input has a value that it doesn't take")
	case m.full && a.name == Cheap:
		return work{}, m, failure(supplier.Refused, fault.CapacityExhausted)
	case attempt(r.SubmitKey) <= m.flaky:
		return work{}, m, failure(supplier.Refused, fault.ProviderUnavailable)
	case m.fail != "":
		return work{}, m, failure(supplier.Refused, m.fail)
	case m.failJob != "" && !services[r.Capability].async:
		return work{}, m, failure(supplier.Refused, m.failJob)
	}
	body, err := json.Marshal(product)
	if err != nil {
		return work{}, m, supplier.NewError(supplier.NotSent, fault.Internal, messages[fault.Internal], err)
	}
	takes := time.Duration(float64(services[r.Capability].takes)*a.speed) + m.slow
	return work{
		Capability: r.Capability, Product: body, Started: time.Now().UTC(), Takes: takes,
		Fail: m.failJob, Stuck: m.stuck,
	}, m, nil
}

// begin gives the work its job: by its class, the one that the key began before.
func (a *adapter) begin(r supplier.Request, w work, m magic) (supplier.Job, error) {
	state, err := json.Marshal(w)
	if err != nil {
		return supplier.Job{}, supplier.NewError(supplier.NotSent, fault.Internal, messages[fault.Internal], err)
	}
	job := supplier.Job{ID: a.jobID(r.SubmitKey), Model: r.Model, State: state}
	job, known := a.memory.begin(r.SubmitKey, job)
	if known && a.class != ClassHonorsKey {
		job = supplier.Job{ID: a.jobID(r.SubmitKey), Model: r.Model, State: state}
	}
	if m.unknown && !known && attempt(r.SubmitKey) == 1 {
		return supplier.Job{}, failure(supplier.Unknown, fault.ProviderTimeout)
	}
	return job, nil
}

// jobID is a pure function of the key for the class that honours it, else new each time.
func (a *adapter) jobID(submitKey string) string {
	seed := a.name + "\x00" + submitKey
	if a.class != ClassHonorsKey {
		seed = fmt.Sprintf("%s\x00%d\x00%d", seed, time.Now().UnixNano(), a.count.Add(1))
	}
	sum := sha256.Sum256([]byte(seed))
	return "sbx_" + hex.EncodeToString(sum[:10])
}

// answer does synchronous work within its exchange.
func (a *adapter) answer(ctx context.Context, w work, delta func(supplier.Delta)) (supplier.Outcome, error) {
	if w.Stuck == stuckRunning {
		<-ctx.Done()
		return supplier.Outcome{}, interrupted(ctx, supplier.Unknown)
	}
	if err := pause(ctx, w.Takes); err != nil {
		return supplier.Outcome{}, err
	}
	result, err := w.finish(supplier.Unknown)
	if err != nil {
		return supplier.Outcome{}, err
	}
	if delta != nil && result.Text != nil {
		if err := a.speak(ctx, result, delta); err != nil {
			return supplier.Outcome{}, err
		}
	}
	return supplier.Outcome{Result: result}, nil
}

// betweenWords is the time from one piece of a streamed text to the next.
const betweenWords = 15 * time.Millisecond

// speak delivers the thoughts, the text and the calls piece by piece.
func (a *adapter) speak(ctx context.Context, r *supplier.Result, delta func(supplier.Delta)) error {
	var pieces []supplier.Delta
	for word := range cut(r.Reasoning) {
		pieces = append(pieces, supplier.Delta{Reasoning: word})
	}
	for word := range cut(*r.Text) {
		pieces = append(pieces, supplier.Delta{Text: word})
	}
	for i, c := range r.ToolCalls {
		pieces = append(pieces, supplier.Delta{Calls: []supplier.CallPiece{{Index: i, Name: c.Name}}})
		for word := range cut(c.Arguments) {
			pieces = append(pieces, supplier.Delta{Calls: []supplier.CallPiece{{Index: i, Name: c.Name, Arguments: word}}})
		}
	}
	for _, piece := range pieces {
		if err := pause(ctx, time.Duration(float64(betweenWords)*a.speed)); err != nil {
			return err
		}
		delta(piece)
	}
	return nil
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return interrupted(ctx, supplier.Unknown)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return interrupted(ctx, supplier.Unknown)
	}
}
