package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/task"
)

type whoamiOptions struct {
	clientFlags
	asJSON bool
}

// identity is whom the service sees.
type identity struct {
	Profile      string        `json:"profile,omitempty"`
	BaseURL      string        `json:"base_url"`
	Key          client.Source `json:"key_from"`
	Mode         task.Mode     `json:"mode,omitempty"`
	Hint         string        `json:"hint"`
	Capabilities int           `json:"capabilities"`
}

func newWhoamiCmd(t *terminal) *cobra.Command {
	var o whoamiOptions
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Show the profile, the service and which key is used",
		Example: `  unitask whoami
  unitask whoami --profile work --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return whoamiRun(cmd.Context(), t, &o) },
	}
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func whoamiRun(ctx context.Context, t *terminal, o *whoamiOptions) error {
	target, err := o.target(ctx)
	if err != nil {
		return err
	}
	credential, err := o.credential(ctx, t, target)
	if err != nil {
		return err
	}
	who := identity{Profile: target.Name, BaseURL: target.BaseURL, Key: credential.Source}
	err = who.ask(ctx, credential)
	_, away := errors.AsType[*client.UnreachableError](err)
	f, _ := errors.AsType[*fault.Error](err)
	switch {
	case err == nil && o.asJSON:
		return t.json(who)
	case err == nil:
		return who.print(t, strconv.Itoa(who.Capabilities))
	case o.asJSON:
		return err
	case away:
		return errors.Join(err, who.print(t, "unreachable"))
	case f != nil && f.Code == fault.Unauthenticated:
		refused := hint.With(err, "unitask keys create makes a key, on the server's machine; unitask login or UNITASK_API_KEY has it used")
		return errors.Join(refused, who.print(t, "nothing: the service doesn't take this key"))
	}
	return err
}

// ask reads the key's account, mode and scopes from the service.
func (who *identity) ask(ctx context.Context, credential client.Credential) error {
	key, err := credential.Key(ctx)
	if err != nil {
		return err
	}
	who.Mode, who.Hint = account.ModeOf(key.Reveal()), hintOfKey(key)
	c, err := client.New(client.Config{BaseURL: who.BaseURL, Key: credential.Key, Renew: credential.Renew})
	if err != nil {
		return err
	}
	all, err := c.Capabilities(ctx)
	who.Capabilities = len(all)
	return err
}

func (who *identity) print(t *terminal, opens string) error {
	p := page{t: t}
	row := func(name, value string) {
		p.line("%s%s", t.style.faint.Render((name + "            ")[:12]), printable(value))
	}
	if who.Profile != "" {
		row("profile", who.Profile)
	}
	row("service", who.BaseURL)
	from := "from " + string(who.Key)
	if who.Hint != "" {
		from = "…" + strings.TrimPrefix(who.Hint, "…") + " " + from
	}
	row("key", from)
	if who.Mode != "" {
		row("mode", string(who.Mode))
	}
	row("opens", opens)
	return p.err
}
