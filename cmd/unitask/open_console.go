package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/save"
)

// firstAccount is the default account of keys, and the account of the person who runs the server.
const firstAccount = "default"

// operatorLink makes a one-time link for the person who runs the server, and a missing account.
func operatorLink(ctx context.Context, op accountOperator) (api.SignInLink, error) {
	who := api.Invite{Member: systemUser(), Role: string(account.RoleOperator)}
	link, err := op.Invite(ctx, firstAccount, who)
	if fault.CodeOf(err) != fault.NotFound {
		return link, err
	}
	if _, err := op.CreateAccount(ctx, api.AccountCreate{Name: firstAccount}); err != nil {
		return link, err
	}
	return op.Invite(ctx, firstAccount, who)
}

// systemUser is the person's name on this machine.
func systemUser() string {
	const unknown = "operator"
	u, err := user.Current()
	if err != nil {
		return unknown
	}
	name := u.Username
	return cmp.Or(strings.TrimSpace(name[strings.LastIndexByte(name, '\\')+1:]), unknown) // without a domain
}

// openConsole signs a browser in to the server on this machine.
func (o *openOptions) openConsole(ctx context.Context, t *terminal) error {
	if o.choice.BaseURL != "" || o.choice.Profile != "" || o.keyFile != "" {
		return &hint.UsageError{
			Message: "without a task open signs in at the server on this machine, which --data-dir chooses, not --base-url, --profile or a key",
			Hint:    "unitask accounts invite, with --base-url or --profile, makes a link into the console of another server",
		}
	}
	dir, err := o.chosen()
	if err != nil {
		return err
	}
	admin, err := client.NewAdmin(dir)
	if err != nil {
		return err
	}
	link, err := operatorLink(ctx, admin)
	if _, away := errors.AsType[*client.UnreachableError](err); away {
		return hint.With(&reworded{err, "no server runs on " + dir}, "unitask serve; elsewhere its operator makes a link by unitask accounts invite")
	}
	if err != nil {
		return err
	}
	if o.asJSON {
		return t.json(link)
	}
	program := save.ProgramHere()
	if o.print || program == nil {
		t.note("for %s, %s of %s; opens once, within ten minutes", printable(link.Member), printable(string(link.Role)), printable(link.Account))
		_, err := fmt.Fprintln(t.out, t.safe(link.URL))
		return err
	}
	if err := program.Open(ctx, link.URL); err != nil {
		return hint.With(fmt.Errorf("%s: %w", program.Name, err), "unitask open --print")
	}
	t.note("opened the console in the browser")
	return nil
}
