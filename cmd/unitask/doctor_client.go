package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/secret"
	"unitask/internal/shown"
	"unitask/internal/snippet"
)

// worthSaying is the least difference of clocks that a person should know of: signed addresses and
// expiries are the service's, and a log that is compared with ours is half a minute off.
const worthSaying = 30 * time.Second

// client checks the client's own settings.
func (d *diagnosis) client() {
	dir := client.ConfigDir()
	all, err := client.LoadProfiles(dir)
	if err != nil {
		d.fail("profiles", hint.With(err, "mend or remove the file; unitask login makes it anew"))
		return
	}
	if info, err := os.Stat(dir); err == nil && !private(info) {
		d.warn("profiles", dir+" can be read by other users", "chmod 700 "+snippet.Word(dir))
		return
	}
	d.ok("profiles", "%d in %s, current: %s", len(all.Profiles), dir, orNone(all.Current))
}

// keyring writes and reads a key as login does.
func (d *diagnosis) keyring(ctx context.Context) {
	ring, err := secret.OpenKeyring(ctx, secret.KeyringConfig{})
	if err == nil {
		err = ring.Probe(ctx)
	}
	if err != nil {
		d.warn("keyring", plain(err), "UNITASK_API_KEY and --api-key-file need no keyring; "+hintOf("unitask doctor", err))
		return
	}
	d.ok("keyring", "keeps and returns an item")
}

// service asks the service that the client would call, and tries the key on it.
func (d *diagnosis) service(ctx context.Context) {
	if d.o.dataDir != "" && answers(ctx, d.o.dataDir) {
		d.o.choice.DataDir = d.o.dataDir
	}
	target, err := d.o.target(ctx)
	if err != nil {
		d.fail("service", err)
		return
	}
	where := target.BaseURL
	if target.Name != "" {
		where += " (profile " + target.Name + ")"
	}
	if d.reach(ctx, target.BaseURL, where) {
		d.key(ctx, target)
	}
}

func (d *diagnosis) reach(ctx context.Context, baseURL, where string) bool {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	c, err := client.New(client.Config{BaseURL: baseURL, UserAgent: "unitask/" + readBuild().Version, Key: noKey})
	if err != nil {
		d.fail("service", err)
		return false
	}
	h, err := c.Health(ctx)
	if err != nil {
		d.fail("service", err)
		return false
	}
	d.ok("service", "%s answers in %d ms", where, h.Took.Milliseconds())
	if h.Skew.Abs() >= worthSaying {
		d.warn("clock", fmt.Sprintf("this machine's is %s %s", shown.Duration(h.Skew.Abs()), aheadOrBehind(h.Skew)), "let NTP set the clocks of both machines")
	} else {
		d.ok("clock", "agrees with the service's")
	}
	return true
}

// noKey is for requests without a key.
func noKey(context.Context) (secret.Value, error) { return secret.Value{}, nil }

func aheadOrBehind(skew time.Duration) string {
	if skew > 0 {
		return "ahead of the service's"
	}
	return "behind the service's"
}

func (d *diagnosis) key(ctx context.Context, target client.Target) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	credential, err := d.o.credential(ctx, d.t, target)
	if err != nil {
		d.fail("key", err)
		return
	}
	who := identity{BaseURL: target.BaseURL}
	if err := who.ask(ctx, credential); err != nil {
		d.fail("key", err)
		return
	}
	if who.Capabilities == 0 {
		d.warn("key", fmt.Sprintf("…%s from %s opens nothing", who.Hint, credential.Source),
			"a live key needs a supplier; a test key always has the sandbox: unitask keys create --mode test")
		return
	}
	d.ok("key", "%s key from %s opens %d capabilities", orNone(string(who.Mode)), credential.Source, who.Capabilities)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
