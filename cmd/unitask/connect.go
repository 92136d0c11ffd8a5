package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"unitask/internal/client"
)

// clientFlags say which service to call and where its key is.
type clientFlags struct {
	choice  client.Choice
	keyFile string
}

func (f *clientFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.choice.Profile, "profile", "", "use this `profile` (UNITASK_PROFILE)")
	cmd.Flags().StringVar(&f.choice.BaseURL, "base-url", "", "call the service at this `URL` (UNITASK_BASE_URL)")
	cmd.Flags().StringVar(&f.keyFile, "api-key-file", "", "read the key from this `file`, or from stdin for - (else UNITASK_API_KEY)")
}

// target finds the service; what is wrong there is wrong with the command line or a settings file.
func (f *clientFlags) target() (client.Target, error) {
	target, err := f.choice.Target()
	if err != nil {
		return target, &usageError{message: plain(err), hint: "unitask login --profile NAME --base-url URL makes a profile"}
	}
	return target, nil
}

// connect returns a client with the right key.
func (f *clientFlags) connect(ctx context.Context, t *terminal, onRetry func(client.Retry)) (*client.Client, error) {
	target, err := f.target()
	if err != nil {
		return nil, err
	}
	credential, err := target.Credential(ctx, f.keyFile, t.in)
	if err != nil {
		return nil, err
	}
	if onRetry == nil {
		onRetry = func(r client.Retry) { t.note("%s; trying again in %s", plain(r.Err), seconds(r.Pause)) }
	}
	return client.New(client.Config{
		BaseURL: target.BaseURL, Key: credential.Key, Renew: credential.Renew,
		UserAgent: "unitask/" + readBuild().Version, OnRetry: onRetry,
	})
}

// plain is an error in one line without its code.
func plain(err error) string { return printable(fmt.Sprint(describe(err))) }
