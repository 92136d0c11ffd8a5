package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/snippet"
	"unitask/internal/submit"
)

// clientFlags name the service to call and its key.
type clientFlags struct {
	choice  client.Choice
	keyFile string
}

func (f *clientFlags) add(cmd *cobra.Command) {
	f.addService(cmd)
	cmd.Flags().StringVar(&f.choice.DataDir, "data-dir", "", "call the server of this machine on this data `folder` (UNITASK_DATA_DIR)")
	_ = cmd.MarkFlagDirname("data-dir")
	cmd.MarkFlagsMutuallyExclusive("data-dir", "profile")
	cmd.MarkFlagsMutuallyExclusive("data-dir", "base-url")
}

// addService is add for a command whose --data-dir is the operator's.
func (f *clientFlags) addService(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.choice.Profile, "profile", "", "use this `profile` (UNITASK_PROFILE)")
	cmd.Flags().StringVar(&f.choice.BaseURL, "base-url", "", "call the service at this `URL` (UNITASK_BASE_URL)")
	cmd.Flags().StringVar(&f.keyFile, "api-key-file", "", "read the key from this `file`, or from stdin for - (else UNITASK_API_KEY)")
	_ = cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
}

// target finds the service; an error there is one of the command line or of a settings file.
func (f *clientFlags) target(ctx context.Context) (client.Target, error) {
	target, err := f.choice.Target(ctx)
	if _, away := errors.AsType[*client.UnreachableError](err); away {
		return target, err
	}
	if err != nil {
		return target, &hint.UsageError{Message: plain(err), Hint: "unitask login --profile NAME --base-url URL makes a profile"}
	}
	return target, nil
}

// credential finds the key for the target, and refuses an operator's; its passphrase is asked for on a terminal.
func (f *clientFlags) credential(ctx context.Context, t *terminal, target client.Target) (client.Credential, error) {
	target.Passphrase = t.passphrase
	found, err := target.Credential(ctx, f.keyFile, t.stdin(ctx))
	if err != nil || found.Source == client.FromLocalServer { // which gives API keys alone
		return found, err
	}
	key, err := found.Key(ctx)
	if err != nil {
		return found, err
	}
	return found, checkKind(key, false)
}

// words are the flags with which another command reaches the same service, with a space before.
func (f *clientFlags) words() string {
	var words strings.Builder
	for _, flag := range []struct{ name, value string }{
		{"profile", f.choice.Profile}, {"base-url", f.choice.BaseURL}, {"data-dir", f.choice.DataDir}, {"api-key-file", f.keyFile},
	} {
		if flag.value != "" {
			words.WriteString(" --" + flag.name + " " + snippet.Word(flag.value))
		}
	}
	return words.String()
}

// reach finds the service and the right key. A person at a terminal is told which they are.
func (f *clientFlags) reach(ctx context.Context, t *terminal, onRetry func(client.Retry)) (*submit.Service, error) {
	target, err := f.target(ctx)
	if err != nil {
		return nil, err
	}
	credential, err := f.credential(ctx, t, target)
	if err != nil {
		return nil, err
	}
	if _, err := credential.Key(ctx); err != nil {
		return nil, err
	}
	c, err := newClient(t, target, credential, onRetry)
	if err != nil {
		return nil, err
	}
	s := f.service(c, target, credential)
	if t.outTTY && t.errTTY {
		t.above(func() { t.note("%s", t.errStyle.faint.Render(s.Describe(ctx))) })
	}
	return s, nil
}

// service is a client with this machine's journal.
func (f *clientFlags) service(c *client.Client, target client.Target, credential client.Credential) *submit.Service {
	return &submit.Service{Client: c, Target: target, Key: credential.Key, Flags: f.words(), Journal: journal.Open(journal.StateDir())}
}

// connect is reach for commands that need the client alone.
func (f *clientFlags) connect(ctx context.Context, t *terminal, onRetry func(client.Retry)) (*client.Client, error) {
	s, err := f.reach(ctx, t, onRetry)
	if err != nil {
		return nil, err
	}
	return s.Client, nil
}

// newClient reports retries on stderr if onRetry is nil.
func newClient(t *terminal, target client.Target, credential client.Credential, onRetry func(client.Retry)) (*client.Client, error) {
	if onRetry == nil {
		onRetry = func(r client.Retry) { t.note("%s", sayRetry(r)) }
	}
	return client.New(client.Config{
		BaseURL: target.BaseURL, Key: credential.Key, Renew: credential.Renew,
		UserAgent: "unitask/" + readBuild().Version, OnRetry: onRetry,
	})
}

// plain is an error in one line without its code.
func plain(err error) string { return printable(fmt.Sprint(describe(err))) }
