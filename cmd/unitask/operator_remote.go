package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/secret"
)

// remoteOperator is the way to a server elsewhere, in a command's help.
const remoteOperator = `Whoever may open the data folder is the operator. A running server is asked over its socket there;
without one, the store in the folder is opened. With --profile, --base-url or UNITASK_OPERATOR_KEY a
server elsewhere is asked by an operator key, over TLS; its settings say operator_api: true. A profile
that is named is asked by its own key alone. --profile, --base-url and UNITASK_PROFILE come before
UNITASK_DATA_DIR.`

// remoteFlags are operatorFlags for commands that also reach a server elsewhere.
type remoteFlags struct {
	operatorFlags
	choice client.Choice
}

func (f *remoteFlags) add(cmd *cobra.Command) {
	f.operatorFlags.add(cmd)
	cmd.Flags().StringVar(&f.choice.Profile, "profile", "", "ask the server of this `profile`, by the operator key that login kept (UNITASK_PROFILE)")
	cmd.Flags().StringVar(&f.choice.BaseURL, "base-url", "", "ask the server at this `URL`, by the operator key of UNITASK_OPERATOR_KEY or of its profile")
	_ = cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
	cmd.MarkFlagsMutuallyExclusive("data-dir", "profile")
	cmd.MarkFlagsMutuallyExclusive("data-dir", "base-url")
}

// remote reports whether a server elsewhere is asked. The flags choose, then UNITASK_PROFILE, if it names an operator's
// profile, then UNITASK_OPERATOR_KEY; where that comes without UNITASK_BASE_URL, UNITASK_DATA_DIR is before it.
func (f *remoteFlags) remote() (bool, error) {
	switch {
	case f.choice.Profile != "" || f.choice.BaseURL != "":
		return true, nil
	case f.dataDir != "":
		return false, nil
	}
	if name := os.Getenv("UNITASK_PROFILE"); name != "" {
		all, err := client.LoadProfiles(client.ConfigDir())
		if one, known := all.Profiles[name]; err != nil || !known || one.Operator {
			return true, err
		}
	}
	elsewhere := os.Getenv("UNITASK_BASE_URL") != "" || os.Getenv("UNITASK_DATA_DIR") == ""
	return elsewhere && os.Getenv(string(client.FromOperator)) != "", nil
}

// openRemote finds the server elsewhere and the operator key for it, and tries both.
func (f *remoteFlags) openRemote(ctx context.Context, t *terminal) (*client.Admin, error) {
	f.choice.Operator, f.choice.NoDataDir = true, true
	target, err := f.choice.Target(ctx)
	if err != nil {
		return nil, &hint.UsageError{Message: plain(err), Hint: "unitask login --operator --profile NAME --base-url URL makes a profile"}
	}
	target.Passphrase = t.passphrase
	credential, err := target.OperatorCredential(ctx)
	if e, ok := errors.AsType[*client.NoKeyError](err); ok && e.KeyFor == "" {
		return nil, hint.With(&reworded{err, "no operator key for " + target.BaseURL}, "unitask login --operator keeps one; UNITASK_OPERATOR_KEY holds one for --base-url, and for no profile; "+makeOperatorKey)
	}
	if err != nil {
		return nil, err
	}
	key, err := credential.Key(ctx)
	if err != nil {
		return nil, err
	}
	admin, err := tryOperatorKey(ctx, target.BaseURL, key)
	if err == nil && t.outTTY && t.errTTY {
		t.note("%s", t.errStyle.faint.Render(target.BaseURL+" by the operator key that ends in "+hintOfKey(key)))
	}
	return admin, err
}

// makeOperatorKey is the command that makes an operator key.
const makeOperatorKey = "unitask keys create --mode operator makes one, where the server's data folder is"

// tryOperatorKey asks the server at a base URL whether it takes an operator key.
func tryOperatorKey(ctx context.Context, baseURL string, key secret.Value) (*client.Admin, error) {
	if err := checkKind(key, true); err != nil {
		return nil, err
	}
	admin, err := client.NewRemoteAdmin(baseURL, key)
	if err != nil {
		return nil, &hint.UsageError{Message: plain(err), Hint: "call the server at its https:// address"}
	}
	_, err = admin.Info(ctx)
	if err == nil {
		return admin, nil
	}
	f, coded := errors.AsType[*fault.Error](err)
	answer, answered := errors.AsType[*client.Error](err)
	switch {
	case !coded || answered && answer.Foreign:
		return nil, err
	case f.Code == fault.NotFound:
		return nil, hint.With(fault.New(fault.NotFound, baseURL+" takes no operator keys"), "operator_api: true in the server's settings, and a restart, has it take them")
	case f.Code == fault.Unauthenticated:
		return nil, hint.With(err, makeOperatorKey)
	case f.Code == fault.InvalidRequest:
		return nil, hint.With(err, "call the server at its https:// address; its trusted_proxies must name its proxy")
	}
	return nil, err
}

// checkKind refuses an API key in the place of an operator's, and the other way round, before it is sent.
func checkKind(key secret.Value, operator bool) error {
	switch mode := account.ModeOf(key.Reveal()); {
	case operator && mode != account.Operator:
		return hint.With(fault.New(fault.Unauthenticated, "this takes an operator key, svc_operator_…, and the key is no such one"), makeOperatorKey)
	case !operator && mode == account.Operator:
		return hint.With(fault.New(fault.Unauthenticated, "the key is an operator's, for keys, accounts, usage, suppliers and requests: it opens no capability"),
			"unitask login --operator keeps it for those commands; unitask keys create makes an API key")
	}
	return nil
}
