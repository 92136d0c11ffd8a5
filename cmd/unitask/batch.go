package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/arguments"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/save"
	"unitask/internal/snippet"
	"unitask/internal/submit"
)

const maxConcurrency = 64

// batch is many requests of one command: a line each.
type batch struct {
	o        *runOptions
	t        *terminal
	service  *submit.Service
	entry    api.Capability
	words    []string // that hold for every line
	progress *progress
	ahead    *ahead
	started  map[string]string // entries that an earlier run left, by their keys

	mu     sync.Mutex
	batch  *journal.Batch
	before int // lines that an earlier run did
	ended  int // lines of this run
	totals totals
}

// job is one line of a batch.
type job struct {
	arguments.Line
	index int
	sum   [sha256.Size]byte // of its request: files may change until its turn
}

// eachRun runs a task for each line of a file or of stdin.
func (o *runOptions) eachRun(ctx context.Context, t *terminal) error {
	from, words, err := o.eachWords()
	if err != nil {
		return err
	}
	if from == "-" && o.keyFile == "-" {
		return &hint.UsageError{Message: "stdin is read already"}
	}
	lines, err := arguments.ReadLines(from, t.stdin(ctx))
	if err != nil {
		return err
	}
	p := startProgress(t, o.capability)
	stop := sync.OnceFunc(p.stop)
	defer stop()
	e := &batch{o: o, t: t, words: words, progress: p}
	if e.service, err = o.reach(ctx, t, p.retry); err != nil {
		return err
	}
	if e.entry, err = entryOf(ctx, e.service.Client, o.capability); err != nil {
		return err
	}
	e.ahead = &ahead{ctx: ctx, client: e.service.Client, progress: p}
	jobs, err := e.begin(ctx, lines)
	if err != nil {
		return err
	}
	ctx, cancel := o.wait(ctx)
	defer cancel()
	errs := parallel(o.concurrency, jobs, func(j job) error { return e.one(ctx, j) })
	stop()
	if line := e.totals.line(time.Since(p.started)); line != "" {
		t.note("%s", t.errStyle.faint.Render(line))
	}
	return e.end(ctx, errs)
}

// eachWords takes the file of lines out of the words.
func (o *runOptions) eachWords() (from string, words []string, err error) {
	for _, word := range o.words {
		switch a := arguments.Parse(word); {
		case a.Name != "":
			words = append(words, word)
		case from != "" || word != "-" && !strings.HasPrefix(word, "@"):
			return "", nil, &hint.UsageError{Message: "--each takes one @FILE or -, whose lines are prompts or JSON objects"}
		default:
			from = word
		}
	}
	if from == "" {
		return "", nil, &hint.UsageError{Message: "--each needs @FILE or -, whose lines are prompts or JSON objects"}
	}
	if o.concurrency < 1 || o.concurrency > maxConcurrency {
		return "", nil, &hint.UsageError{Message: fmt.Sprintf("--concurrency takes 1 to %d", maxConcurrency)}
	}
	if o.output != "" && !save.IsFolder(o.output) {
		return "", nil, &hint.UsageError{Message: "--each saves into a folder: write -o " + snippet.Word(o.output+"/")}
	}
	return from, words, nil
}

// begin prepares every line before the first one is sent, opens the batch and returns the unfinished lines.
func (e *batch) begin(ctx context.Context, lines []arguments.Line) ([]job, error) {
	mode, err := e.service.ModeOfKey(ctx)
	if err != nil {
		return nil, err
	}
	jobs := make([]job, len(lines))
	texts := []string{e.service.BaseURL(), string(mode), save.Absolute(e.o.output), fmt.Sprint(e.o.asJSON)}
	for i, line := range lines {
		body, _, err := e.fit(line, hashed)
		if err != nil {
			return nil, err
		}
		jobs[i] = job{Line: line, index: i, sum: sha256.Sum256(body)}
		texts = append(texts, string(jobs[i].sum[:]))
	}
	e.batch, err = e.service.Journal.Batch(journal.BatchName(texts...), e.command(), len(jobs))
	if errors.Is(err, journal.ErrBusy) {
		return nil, errors.New("the same batch is running already")
	}
	if err == nil {
		err = e.findLeft()
	}
	if err != nil {
		return nil, submit.Unjournaled(err)
	}
	if taken := e.taken(jobs); taken != "" {
		return nil, errors.Join(&hint.UsageError{
			Message: taken + " is there already, of another batch: -o takes another folder, or remove it",
		}, e.batch.Erase())
	}
	if e.before = e.batch.Done; e.before > 0 {
		e.t.above(func() { e.t.note("going on: %d of %d were done before", e.before, e.batch.All) })
	}
	var left []job
	for _, j := range jobs {
		if !e.batch.IsDone(j.index) {
			left = append(left, j)
		} else if id, ok := e.started[e.batch.Key(j.index)]; ok { // its process ended before it could forget the entry
			if err := e.service.Journal.Forget(id); err != nil && !errors.Is(err, journal.ErrBusy) {
				return nil, submit.Unjournaled(err)
			}
		}
	}
	return left, nil
}

// taken returns a file in whose place a result of a new batch would be saved, "" without one.
func (e *batch) taken(jobs []job) string {
	if e.o.output == "" || !e.batch.Fresh {
		return ""
	}
	there, err := os.ReadDir(e.o.output)
	if err != nil {
		return "" // whoever saves there says why
	}
	for _, j := range jobs {
		stem := strings.TrimSuffix(filepath.Base(e.file(j)), "*")
		if at := slices.IndexFunc(there, func(f os.DirEntry) bool { return strings.HasPrefix(f.Name(), stem) }); at >= 0 {
			return filepath.Join(e.o.output, there[at].Name())
		}
	}
	return ""
}

// command is the command that begins the batch again.
func (e *batch) command() string {
	words := []string{"unitask run", e.o.capability}
	for _, word := range e.o.words {
		words = append(words, snippet.Word(word))
	}
	words = append(words, "--each")
	if e.o.output != "" {
		words = append(words, "-o", snippet.Word(e.o.output))
	}
	if e.o.asJSON {
		words = append(words, "--json")
	}
	return strings.Join(words, " ") + e.o.metadata.words() + e.o.clientFlags.words()
}

// findLeft looks for the entries that an interrupted run of the batch left. Those that it didn't finish writing go.
func (e *batch) findLeft() error {
	ids, err := e.service.Journal.List()
	e.started = map[string]string{}
	for _, id := range ids {
		entry, err := e.service.Journal.Peek(id)
		if err == nil {
			e.started[entry.Key] = id
		} else if errors.Is(err, journal.ErrUnsent) {
			_, _ = submit.Look(e.service.Journal, id) // the next one looks again, should this fail
		}
	}
	return err
}

// one runs a line's task to its end and prints its result.
func (e *batch) one(ctx context.Context, j job) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s, err := e.submission(ctx, j)
	if err != nil {
		return e.print(result{Line: j.N}, err)
	}
	done, err := s.Resume(ctx)
	if err == nil {
		err = submit.Ended(done)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && done.ID == "" && f.TaskID != "" {
		read, _ := e.service.Get(ctx, f.TaskID, client.GetOptions{}) // if it can't be read, the error says enough
		done = read.Task
	}
	r := result{Line: j.N, Task: &done}
	if err == nil && e.o.output != "" {
		r.Files, err = e.save(ctx, j, done)
	}
	if _, left := errors.AsType[*submit.LeftRunningError](err); !left {
		err = e.print(r, err)
	}
	if err == nil {
		e.mu.Lock()
		err = e.batch.SetDone(j.index)
		e.mu.Unlock()
	}
	return s.SettleAlone(err)
}

// submission takes over an earlier run's entry of a line, or begins one.
func (e *batch) submission(ctx context.Context, j job) (*submit.Submission, error) {
	key := e.batch.Key(j.index)
	if id, ok := e.started[key]; ok {
		if entry, err := e.service.Journal.Take(id); err == nil {
			return e.service.Take(entry, nil), entry.SetFailed(false)
		}
	}
	body, _, err := e.fit(j.Line, hashed)
	if err != nil {
		return nil, err
	}
	if sha256.Sum256(body) != j.sum {
		return nil, errors.New("a file that it names has changed since this command began")
	}
	body, read, err := e.fit(j.Line, e.ahead.send)
	if err != nil {
		return nil, err
	}
	sub := journal.Submission{Key: key, Body: body, Files: read.Files, JSON: e.o.asJSON}
	if e.o.output != "" {
		sub.Output = save.Absolute(e.file(j))
	}
	return e.service.Begin(ctx, sub, nil)
}

// fit makes the JSON of a line's request.
func (e *batch) fit(line arguments.Line, send arguments.AheadFunc) ([]byte, *arguments.Reader, error) {
	read := &arguments.Reader{StdinUsed: true, AheadFunc: send}
	req, err := arguments.FitLine(e.entry, e.words, line, read)
	if err != nil {
		return nil, read, err
	}
	req.Metadata = e.o.metadata.pairs
	body, err := json.Marshal(req)
	return body, read, err
}

// file is the destination of a line's result, as an -o of its own.
func (e *batch) file(j job) string { return filepath.Join(e.o.output, fmt.Sprintf("%04d.*", j.N)) }

func (e *batch) save(ctx context.Context, j job, done api.Task) ([]string, error) {
	parts, err := save.Parts(done.Output)
	if err != nil {
		return nil, err
	}
	return save.All(ctx, e.service.Client, parts, e.file(j), done.ID)
}

// print writes a line's result, reports its error on stderr unless both stand on one terminal, and returns it.
func (e *batch) print(r result, failed error) error {
	var err error
	if failed != nil {
		r.Error = describe(failed)
	}
	if r.Task != nil && r.Task.ID == "" {
		r.Task = nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.t.above(func() {
		if failed != nil && (!e.t.outTTY || !e.t.errTTY || e.t.filter != nil) {
			e.t.note("line %d: %s", r.Line, printable(r.Error))
		}
		if e.o.asJSON {
			err = e.t.json(r)
		} else {
			if note := r.cut(); note != "" {
				e.t.note("line %d: %s", r.Line, printable(note))
			}
			_, err = fmt.Fprintln(e.t.out, r.row())
		}
	})
	e.ended++
	e.totals.add(r)
	e.progress.count(e.before+e.ended, e.batch.All)
	return errors.Join(failed, err)
}

// end forgets a batch that is complete; otherwise it names the command that does the rest.
func (e *batch) end(ctx context.Context, errs []error) error {
	next := "the same command does what is left: " + e.batch.Command
	if over := !slices.ContainsFunc(errs, func(err error) bool { return !settled(err) }); over {
		err := several(errs)
		if e, ok := errors.AsType[*partialError](err); ok {
			e.hint = "another try changes nothing: give these lines in another form, or leave them out"
		}
		return errors.Join(err, e.batch.Erase())
	}
	if ctx.Err() != nil {
		e.t.note("%d of %d are done", e.batch.Done, e.batch.All)
		left := &submit.LeftRunningError{TaskID: "what was started", Cause: context.Cause(ctx)}
		return hint.With(errors.Join(left, e.batch.Close()), next)
	}
	err := several(errs)
	if e, ok := errors.AsType[*partialError](err); ok {
		e.hint = next
	}
	return errors.Join(err, e.batch.Close())
}

// settled reports whether a line of a batch has come to an end that another try doesn't change.
func settled(err error) bool {
	f, coded := errors.AsType[*fault.Error](err)
	_, ended := errors.AsType[*submit.EndedError](err)
	switch {
	case err == nil, ended && !coded:
		return true
	case !coded || f.Retryable():
		return false
	}
	return ended || f.TaskID != "" || f.Code == fault.InvalidRequest || f.Code == fault.ContentPolicyViolation || f.Code == fault.AuthorizationRequired
}
