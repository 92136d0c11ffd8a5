package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
)

// operatorAPI is the operations of an operator: over the socket of the running server, on the store itself without one,
// or by an operator key at a server elsewhere.
type operatorAPI interface {
	keyOperator
	accountOperator
	supplierOperator
	observer
}

type keyOperator interface {
	CreateKey(ctx context.Context, req api.KeyCreate) (api.Key, error)
	ListKeys(ctx context.Context) ([]api.Key, error)
	UpdateKey(ctx context.Context, id string, req api.KeyUpdate) (api.Key, error)
	RotateKey(ctx context.Context, id string, req api.KeyRotate) (api.Key, error)
	RevokeKey(ctx context.Context, id string) (api.Key, error)
}

type accountOperator interface {
	CreateAccount(ctx context.Context, req api.AccountCreate) (api.Account, error)
	ListAccounts(ctx context.Context) ([]api.Account, error)
	GetAccount(ctx context.Context, which string) (api.Account, error)
	UpdateAccount(ctx context.Context, which string, req api.AccountUpdate) (api.Account, error)
	Invite(ctx context.Context, which string, req api.Invite) (api.SignInLink, error)
	sessionOperator
	standingOperator
}

type standingOperator interface {
	SuspendAccount(ctx context.Context, which string) (api.Account, error)
	ResumeAccount(ctx context.Context, which string) (api.Account, error)
	CloseAccount(ctx context.Context, which string, req api.AccountClose) (api.AccountClosed, error)
}

type sessionOperator interface {
	Sessions(ctx context.Context, which string) ([]api.Session, error)
	EndSessions(ctx context.Context, which string, req api.SessionsEnd) ([]api.Session, error)
}

type observer interface {
	Usage(ctx context.Context, q api.UsageQuery) (api.UsageReport, error)
	Suppliers(ctx context.Context) ([]api.SupplierState, error)
	FindRequests(ctx context.Context, id string) (api.RequestList, error)
	Arrivals(ctx context.Context, w io.Writer) error
	Log(ctx context.Context, cursor string) (api.LogPage, error)
}

// openOperator asks the server on the data folder, and opens the store only if no server answers. A person at a
// terminal is told which. closeFunc gives the store back.
func openOperator(ctx context.Context, t *terminal, dataDir string) (o operatorAPI, closeFunc func() error, err error) {
	tell := func(who string) {
		if t.outTTY && t.errTTY {
			t.note("%s", t.errStyle.faint.Render(who+" on "+dataDir))
		}
	}
	admin, err := client.NewAdmin(dataDir)
	if err != nil {
		return nil, nil, err
	}
	info, err := admin.Info(ctx)
	if err == nil {
		tell(info.BaseURL)
		return admin, func() error { return nil }, nil
	}
	if _, away := errors.AsType[*client.UnreachableError](err); !away || ctx.Err() != nil {
		return nil, nil, err
	}
	tell("no server runs")
	return openStoreOperator(ctx, dataDir)
}

// operatorFlags say which data folder is operated on, and how its answer is shown.
type operatorFlags struct {
	dataDir string
	asJSON  bool
}

func (f *operatorFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dataDir, "data-dir", "", "the server's data `folder` (UNITASK_DATA_DIR, else the profile's, else ./data)")
	_ = cmd.MarkFlagDirname("data-dir")
	addJSON(cmd, &f.asJSON)
}

// chosen returns the chosen data folder, whether it exists or not.
func (f *operatorFlags) chosen() (string, error) {
	if dir := cmp.Or(f.dataDir, os.Getenv("UNITASK_DATA_DIR")); dir != "" {
		return dir, nil
	}
	all, err := client.LoadProfiles(client.ConfigDir())
	if err != nil {
		return "", err
	}
	return cmp.Or(all.Profiles[all.Current].DataDir, all.Profiles[client.LocalProfile].DataDir, "data"), nil
}

// folder returns the chosen data folder, which must exist: one that is mistyped isn't made.
func (f *operatorFlags) folder() (string, error) {
	dir, err := f.chosen()
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", &hint.UsageError{Message: "there is no data folder " + dir, Hint: "unitask serve makes one; --data-dir names another; --profile or --base-url a server elsewhere"}
	}
	return dir, nil
}

// with runs do on the operator of the chosen server or data folder.
func (f *remoteFlags) with(ctx context.Context, t *terminal, do func(operatorAPI) error) error {
	remote, err := f.remote()
	if err != nil {
		return err
	}
	if remote {
		admin, err := f.openRemote(ctx, t)
		if err != nil {
			return err
		}
		return do(admin)
	}
	dir, err := f.folder()
	if err != nil {
		return err
	}
	o, closeFunc, err := openOperator(ctx, t, dir)
	if err != nil {
		return err
	}
	return errors.Join(do(o), closeFunc())
}

// operated asks the operator and shows the answer: as JSON, or by show.
func operated[T any](
	ctx context.Context, t *terminal, f *remoteFlags, ask func(operatorAPI) (T, error), show func(T) error,
) error {
	return f.with(ctx, t, func(op operatorAPI) error {
		answer, err := ask(op)
		switch {
		case err != nil:
			return err
		case f.asJSON:
			return t.json(answer)
		}
		return show(answer)
	})
}

// listed asks the operator for a list and shows it: as JSON, by show, or as a note that it is empty.
func listed[T any](
	ctx context.Context, t *terminal, f *remoteFlags, empty string, ask func(operatorAPI) ([]T, error), show func([]T) error,
) error {
	return operated(ctx, t, f, func(op operatorAPI) ([]T, error) {
		all, err := ask(op)
		return append([]T{}, all...), err
	}, func(all []T) error {
		if len(all) == 0 {
			t.note("%s", empty)
			return nil
		}
		return show(all)
	})
}
