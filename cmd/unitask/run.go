package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/arguments"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/save"
	"unitask/internal/submit"
)

const runLong = `Submit a task, wait for it and print or save what it made.

Values fit the capability's schema ("unitask capabilities NAME" shows it). A word without a name is
the prompt. @FILE and - read a file or stdin, for texts and media; media may also be a URL or the id
of an artifact. @@ begins a text with an @ of its own. name:=JSON gives any value as JSON,
name.member=value a member of an object, and a name given again another item of a list. Objects and lists
of them, such as tools, are JSON or @FILE. Words after a chat's prompt that begin with @ are files that go along with it,
and so is what a shell pipes in; elsewhere that is the text or file that is lacking, without a word -.
Media files of more than 1 MiB are sent ahead of the request, as "unitask upload" does.

The request is written to a journal on this machine before it is sent, so that the same task can be
finished whatever happens to this command: interrupting it leaves the task running, and "unitask tasks
resume" goes on with it. Lost connections, timeouts and a full service are tried again by themselves,
under the same key and within bounds.

With --each every line of @FILE or of stdin is a task of its own. Each result is one line as it comes: the
line's number, the task's id, its state and what it made, between tabs; -o DIR/ saves results as 0001.png and
so on. A batch that is interrupted does only what is left when the same command is given again.

-o FILE asks for the format that the file's ending names, if no format is given; one that the capability can't make is
refused before the request is sent.

"unitask run CAPABILITY --help" shows its fields, and "unitask help exit-codes" how the command says the way it ended.`

const runExample = `  unitask run text.chat "Say hello" max_output_tokens=50
  unitask run image.generate "a red fox" size=1024x1024 -o fox.png
  unitask run video.generate "waves" image=@shore.jpg authorization.person=none -o 'waves.*'
  unitask run text.chat "What is this?" @photo.jpg @report.pdf
  unitask run text.chat "What is the weather in Lund?" tools=@tools.json
  git diff | unitask run text.chat "Write a commit message."
  unitask run audio.transcribe < talk.mp3
  unitask run video.generate "waves" duration_seconds=8 --estimate
  unitask run text.chat "Say hello" --metadata team=search --metadata user=u-1042
  unitask run audio.transcribe @talk.mp3 format=srt -o talk.srt
  unitask run image.generate @prompts.txt --each size=640x480 -o pictures/
  unitask run text.chat - --each --json < requests.jsonl > results.jsonl`

type runOptions struct {
	clientFlags
	waitFlags
	capability     string
	words          []string
	idempotencyKey string
	metadata       metadataFlag
	noWait, dryRun bool
	open, estimate bool
	each           bool
	concurrency    int
}

func newRunCmd(t *terminal) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:               "run CAPABILITY [PROMPT] [name=value ...]",
		Short:             "Submit a task and wait for its result",
		Long:              runLong,
		Example:           runExample,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeRun(t, &o.clientFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.capability, o.words = args[0], args[1:]
			if !o.each && cmd.Flags().Changed("concurrency") {
				return &hint.UsageError{Message: "--concurrency is of --each, whose lines are tasks"}
			}
			return runRun(cmd.Context(), t, &o)
		},
	}
	o.waitFlags.add(cmd)
	cmd.Flags().BoolVar(&o.noWait, "no-wait", false, "print the task's id and don't wait")
	cmd.Flags().BoolVar(&o.open, "open", false, "open the result with the system's program for it")
	cmd.Flags().StringVar(&o.idempotencyKey, "idempotency-key", "", "submit under this `key`: the same key and request give the same task")
	o.metadata.add(cmd, "keep `name=text` with the task, for lists by it; may be given again")
	cmd.Flags().BoolVar(&o.each, "each", false, "a task for each line of @FILE or -: a prompt, or a JSON object of fields")
	cmd.Flags().IntVar(&o.concurrency, "concurrency", 4, "with --each: this `many` tasks at once")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the request as a curl command and send nothing")
	cmd.Flags().BoolVar(&o.estimate, "estimate", false, "print the most that the task would cost, and make none")
	o.clientFlags.add(cmd)
	for _, other := range []string{"dry-run", "no-wait", "open", "output", "timeout", "idempotency-key", "each"} {
		cmd.MarkFlagsMutuallyExclusive("estimate", other)
	}
	cmd.MarkFlagsMutuallyExclusive("no-wait", "output")
	cmd.MarkFlagsMutuallyExclusive("no-wait", "timeout")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "json")
	cmd.SetHelpFunc(o.helpFunc(t, foldedHelp(t, cmd.HelpFunc())))
	for _, other := range []string{"no-wait", "dry-run", "json"} {
		cmd.MarkFlagsMutuallyExclusive("open", other)
	}
	for _, single := range []string{"no-wait", "dry-run", "idempotency-key", "open"} {
		cmd.MarkFlagsMutuallyExclusive("each", single)
	}
	return cmd
}

func runRun(ctx context.Context, t *terminal, o *runOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	switch {
	case o.dryRun:
		return o.dryRunRun(ctx, t)
	case o.estimate:
		return o.estimateRun(ctx, t)
	case o.each:
		return o.eachRun(ctx, t)
	}
	p := startProgress(t, o.capability)
	stop := sync.OnceFunc(p.stop)
	defer stop()
	c, err := o.reach(ctx, t, p.retry)
	if err != nil {
		return err
	}
	entry, err := entryOf(ctx, c.Client, o.capability)
	if err != nil {
		return err
	}
	req, files, err := o.request(ctx, t, entry, &ahead{ctx: ctx, client: c.Client, progress: p})
	if err != nil {
		return err
	}
	show := p.show
	if entry.Mode == catalog.Sync && !t.outTTY && !t.errTTY {
		show = func(api.Task) {} // lines of states add no news to the result, or to its text as it comes
	}
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	s, err := c.Begin(ctx, journal.Submission{
		Key: o.idempotencyKey, Body: body, Files: files, Output: save.Absolute(o.output), JSON: o.asJSON,
	}, show)
	if err != nil {
		return err
	}
	if o.noWait {
		return s.Settle(o.submit(ctx, t, s))
	}
	said := o.listen(t, entry, req, func(said *textPrinter) { p.hush(said.again) })
	done, err := o.finish(ctx, s, entry.Mode, said)
	stop()
	if err != nil && o.asJSON {
		if failed := showUnfinished(ctx, t, c.Client, done, err); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	if err == nil {
		result := o.result()
		result.said, result.open = said, o.open
		err = showResult(ctx, t, c.Client, done, result)
	}
	said.end()
	return s.Settle(err)
}

// showUnfinished prints the JSON of a task that didn't come to a result, as far as it is known; a program reads its id
// and its error there.
func showUnfinished(ctx context.Context, t *terminal, c *client.Client, last api.Task, why error) error {
	f, _ := errors.AsType[*fault.Error](why)
	if left, ok := errors.AsType[*submit.LeftRunningError](why); ok {
		f, _ = errors.AsType[*fault.Error](left.Last)
	}
	if f != nil && f.TaskID != "" && f.Code != fault.IdempotencyConflict {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortWait)
		defer cancel()
		read, err := c.Get(ctx, f.TaskID, client.GetOptions{})
		if err != nil {
			return nil // the error that is reported says enough
		}
		last = read.Task
	}
	if last.ID == "" {
		return nil
	}
	return t.json(last)
}

// request makes the request of the command line's words, and returns the files whose bytes are in it. Large ones go
// ahead once the rest of the request is right.
func (o *runOptions) request(ctx context.Context, t *terminal, entry api.Capability, files sender) (api.CreateRequest, []journal.File, error) {
	piped := &slowReader{Reader: t.stdin(ctx), noteFunc: func() {
		t.above(func() { t.note("reading stdin, to its end; < /dev/null runs without it") })
	}}
	read := &arguments.Reader{Stdin: piped, StdinUsed: o.keyFile == "-", Piped: t.inPiped, AheadFunc: files.send, CheckFunc: files.check}
	words := o.words
	if !save.IsFolder(o.output) {
		var err error
		if words, err = arguments.WithFormat(entry, words, o.output); err != nil {
			return api.CreateRequest{}, nil, err
		}
	}
	req, err := arguments.Fit(entry, words, read)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // which ended the reading of stdin
	}
	req.Metadata = o.metadata.pairs
	return req, read.Files, err
}

// check returns the error of the flags before a request is sent.
func (o *runOptions) check() error {
	if o.idempotencyKey == "" {
		o.idempotencyKey = client.NewIdempotencyKey()
	}
	if n := utf8.RuneCountInString(strings.TrimSpace(o.idempotencyKey)); n < api.MinIdempotencyKey || n > api.MaxIdempotencyKey {
		return &hint.UsageError{Message: fmt.Sprintf("--idempotency-key takes %d to %d characters, this has %d", api.MinIdempotencyKey, api.MaxIdempotencyKey, n)}
	}
	if o.output == "-" && slices.ContainsFunc(o.words, severalFiles) {
		return &hint.UsageError{Message: "-o - takes one file, and several are asked for: -o DIR/ takes them all"}
	}
	if err := o.metadata.read(); err != nil {
		return err
	}
	return o.waitFlags.check()
}

// severalFiles reports whether a word asks for more than one result.
func severalFiles(word string) bool {
	a := arguments.Parse(word)
	n, err := strconv.Atoi(a.Value)
	return a.Name == "n" && err == nil && n > 1
}

// submit creates the task and says which one it is.
func (o *runOptions) submit(ctx context.Context, t *terminal, s *submit.Submission) error {
	made, err := s.Create(ctx, 0)
	switch {
	case err != nil:
		return o.explain(err)
	case o.asJSON:
		return t.json(made)
	}
	_, err = fmt.Fprintln(t.out, t.safe(made.ID))
	return err
}

// finish creates the task and follows it to its end, or as long as the person wants.
func (o *runOptions) finish(ctx context.Context, s *submit.Submission, mode catalog.Mode, said *textPrinter) (api.Task, error) {
	ctx, cancel := o.wait(ctx)
	defer cancel()
	how := client.CreateOptions{Wait: o.hold(mode)}
	if said != nil {
		how.OnText = said.say
	}
	done, err := s.Finish(ctx, how)
	return done, o.explain(err)
}

// listen returns a printer for a text while it comes, nil if it is wanted whole, in JSON or a file: with tool calls it
// is printed as JSON.
func (o *runOptions) listen(t *terminal, entry api.Capability, req api.CreateRequest, begin func(*textPrinter)) *textPrinter {
	if o.asJSON || o.open || o.output != "" || entry.Mode != catalog.Sync || entry.Modality != "text" || len(catalog.ToolsOf(req.Parameters)) > 0 {
		return nil
	}
	return &textPrinter{t: t, begin: begin}
}

// hold is how long the service may hold its answer: less than the person waits, so that a task's id
// is known before the end.
func (o *runOptions) hold(mode catalog.Mode) *time.Duration {
	if mode == catalog.Sync && o.timeout > 0 && o.timeout < api.MaxWait {
		return new(max(o.timeout-time.Second, 0))
	}
	return nil
}

// explain names the capability's page if the request was wrong.
func (o *runOptions) explain(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.InvalidRequest {
		return hint.With(err, "unitask capabilities "+o.capability)
	}
	return err
}

// entryOf finds a capability in the directory that the key may call.
func entryOf(ctx context.Context, c *client.Client, name string) (api.Capability, error) {
	all, err := c.Capabilities(ctx)
	if err != nil {
		return api.Capability{}, err
	}
	if len(all) == 0 {
		return api.Capability{}, &hint.UsageError{Message: opensNothing, Hint: "unitask suppliers, on the server's machine, says which supplier is live and why others aren't"}
	}
	return pick(all, name, "this key opens no capability")
}

// opensNothing is the error for a key with an empty directory.
const opensNothing = "this key opens no capability: a live key needs a supplier, a test key always has the sandbox"

// pick finds a capability by its name; an unknown name is answered with similar ones.
func pick(all []api.Capability, name, absent string) (api.Capability, error) {
	var names []string
	for _, one := range all {
		if string(one.Name) == name {
			return one, nil
		}
		names = append(names, string(one.Name))
	}
	return api.Capability{}, absentCapability(name, names, absent)
}

// absentCapability is the error for an unknown capability, with the one that was probably meant.
func absentCapability(name string, names []string, absent string) error {
	slices.Sort(names)
	message := fmt.Sprintf("%s %q", absent, name)
	near := catalog.Nearest(name, names)
	if at := slices.IndexFunc(names, func(one string) bool { return strings.HasSuffix(one, "."+name) }); near == "" && at >= 0 {
		near = names[at]
	}
	if near != "" {
		message += ": did you mean " + near + "?"
	}
	return &hint.UsageError{Message: message, Hint: "unitask capabilities"}
}
