package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/fault"
)

const runLong = `Submit a task, wait for it and print or save what it made.

Values fit the capability's schema ("unitask capabilities NAME" shows it). A word without a name is
the prompt. @FILE and - read a file or stdin, for texts and media; media may also be a URL or the id
of an artifact. @@ begins a text with an @ of its own. name:=JSON gives any value as JSON,
name.member=value a member of an object, and a name given again another item of a list.

Interrupting leaves the task running. The exit code says how it ended: 0 succeeded, 1 any other error,
2 the command line, 3 the task failed, 4 key, 5 not found, 6 rate or capacity, 7 the wait timed out,
8 unreachable, 130 interrupted.`

const runExample = `  unitask run text.chat "Say hello" max_output_tokens=50
  unitask run image.generate "a red fox" size=1024x1024 -o fox.png
  unitask run video.generate "waves" image=@shore.jpg authorization.person=none -o 'waves.*'
  git diff | unitask run text.chat - system="Write a commit message."
  unitask run audio.transcribe @talk.mp3 format=srt -o talk.srt`

type runOptions struct {
	clientFlags
	capability     string
	words          []string
	output         string
	idempotencyKey string
	timeout        time.Duration
	noWait, dryRun bool
	asJSON         bool
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
			return runRun(cmd.Context(), t, &o)
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "save to `FILE`, DIR/, 'NAME.*' (the extension follows the content) or - for stdout")
	cmd.Flags().BoolVar(&o.noWait, "no-wait", false, "print the task's id and don't wait")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "stop waiting after this `time`, such as 90s; the task goes on (exit code 7)")
	cmd.Flags().StringVar(&o.idempotencyKey, "idempotency-key", "", "submit under this `key`: the same key and request give the same task")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the request as a curl command and send nothing")
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("no-wait", "output")
	cmd.MarkFlagsMutuallyExclusive("no-wait", "timeout")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "json")
	return cmd
}

func runRun(ctx context.Context, t *terminal, o *runOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	p := startProgress(t, o.capability)
	stop := sync.OnceFunc(p.stop)
	defer stop()
	c, err := o.connect(ctx, t, p.retry)
	if err != nil {
		return err
	}
	entry, err := entryOf(ctx, c, o.capability)
	if err != nil {
		return err
	}
	req, err := fit(entry, o.words, &reader{stdin: t.in, stdinUsed: o.keyFile == "-"})
	if err != nil {
		return err
	}
	if o.dryRun {
		stop()
		return writeCurl(t.out, c.BaseURL(), o.idempotencyKey, req)
	}
	done, err := o.submit(ctx, c, p, entry, req)
	stop()
	switch {
	case err != nil:
		return err
	case o.noWait && o.asJSON:
		return t.json(done)
	case o.noWait:
		_, err := fmt.Fprintln(t.out, done.ID)
		return err
	}
	err = showResult(ctx, t, c, done, resultOptions{output: o.output, asJSON: o.asJSON})
	if failed, ok := errors.AsType[*taskEnded](err); ok && failed.task.Error != nil && failed.task.Error.Retryable {
		return &hinted{err, "the same command with --idempotency-key " + o.idempotencyKey + " tries this task again"}
	}
	return err
}

// check finds what is wrong with the flags before anything is sent.
func (o *runOptions) check() error {
	if o.idempotencyKey == "" {
		o.idempotencyKey = client.NewIdempotencyKey()
	}
	if n := utf8.RuneCountInString(strings.TrimSpace(o.idempotencyKey)); n < api.MinIdempotencyKey || n > api.MaxIdempotencyKey {
		return &usageError{message: fmt.Sprintf("--idempotency-key takes %d to %d characters, this has %d", api.MinIdempotencyKey, api.MaxIdempotencyKey, n)}
	}
	if o.timeout < 0 {
		return &usageError{message: "--timeout takes a time above zero, such as 90s"}
	}
	return checkOutput(o.output, o.asJSON)
}

// submit creates the task and follows it to its end, or as long as the person wants.
func (o *runOptions) submit(ctx context.Context, c *client.Client, p *progress, entry api.Capability, req api.CreateRequest) (api.Task, error) {
	ctx, cancel := withTimeout(ctx, o.timeout)
	defer cancel()
	created, err := c.Create(ctx, req, client.CreateOptions{IdempotencyKey: o.idempotencyKey, Wait: o.hold(entry.Mode)})
	if err != nil {
		return api.Task{}, o.notCreated(ctx, err)
	}
	if o.noWait {
		return created.Task, nil
	}
	last, err := c.FollowCreated(ctx, created, p.show)
	if err != nil && ctx.Err() != nil {
		return last, &leftRunning{id: created.Task.ID, cause: context.Cause(ctx)}
	}
	return last, err
}

// hold is how long the service may hold its answer: less than the person waits, so that a task's id
// is known before the end.
func (o *runOptions) hold(mode catalog.Mode) *time.Duration {
	switch {
	case o.noWait:
		return new(time.Duration(0))
	case mode == catalog.Sync && o.timeout > 0 && o.timeout < api.MaxWait:
		return new(max(o.timeout-time.Second, 0))
	default:
		return nil
	}
}

// notCreated says how the same request is made again without becoming a second task.
func (o *runOptions) notCreated(ctx context.Context, err error) error {
	again := "the same command with --idempotency-key " + o.idempotencyKey + " gets the same task"
	if ctx.Err() != nil {
		return &hinted{&leftRunning{cause: context.Cause(ctx), last: err}, again}
	}
	_, lost := errors.AsType[*client.UnreachableError](err)
	if f, ok := errors.AsType[*fault.Error](err); lost || ok && f.Retryable() {
		return &hinted{err, again}
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.InvalidRequest {
		return &hinted{err, "unitask capabilities " + o.capability}
	}
	return err
}

// entryOf finds a capability in the directory that the key may call.
func entryOf(ctx context.Context, c *client.Client, name string) (api.Capability, error) {
	all, err := c.Capabilities(ctx)
	if err != nil {
		return api.Capability{}, err
	}
	var names []string
	for _, one := range all {
		if string(one.Name) == name {
			return one, nil
		}
		names = append(names, string(one.Name))
	}
	slices.Sort(names)
	message := fmt.Sprintf("this key opens no capability %q", name)
	if near := catalog.Nearest(name, names); near != "" {
		message += ": did you mean " + near + "?"
	}
	return api.Capability{}, &usageError{message: message, hint: "unitask capabilities"}
}

// withTimeout ends ctx with errTimeout after d; 0 is never.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, errTimeout)
}

// completeRun completes capabilities, then the names of their fields.
func completeRun(t *terminal, flags *clientFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second) // a shell waits for this
		defer cancel()
		c, err := flags.connect(ctx, t, func(client.Retry) {})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := c.Capabilities(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completions(all, args, begun)
	}
}

func completions(all []api.Capability, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, one := range all {
		if len(args) == 0 {
			out = append(out, cobra.CompletionWithDesc(string(one.Name), one.Title))
			continue
		}
		if string(one.Name) != args[0] {
			continue
		}
		fields, err := catalog.FieldsOf(one.InputSchema, one.ParametersSchema)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, f := range fields {
			if len(f.Enum) > 0 && strings.HasPrefix(begun, f.Name+"=") {
				for _, v := range f.Enum {
					out = append(out, f.Name+"="+v)
				}
				return out, cobra.ShellCompDirectiveNoFileComp
			}
			out = append(out, cobra.CompletionWithDesc(f.Name+"=", f.Description))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
