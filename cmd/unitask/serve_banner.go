package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/config"
	"unitask/internal/node"
	"unitask/internal/operator"
	"unitask/internal/policy"
	"unitask/internal/server/console"
	"unitask/internal/snippet"
	"unitask/internal/task"
)

// banner is the text of serve's start. It holds keys only if a person reads it.
type banner struct {
	settings   config.Config
	origin     string // of the settings
	suppliers  node.Suppliers
	dataDir    string
	keys       []api.Key // made just now, to be shown once
	link       string    // into the console, once; "" without a person to see it
	local      bool      // the listener is on this machine alone
	profileErr error
}

// doors are the bases of the addresses at which the libraries of others call this service.
var doors = []struct{ name, base, maker string }{
	{config.DoorOpenAI, "/openai/v1", "OpenAI"},
	{config.DoorAnthropic, "/anthropic", "Anthropic"},
}

func (b banner) print(t *terminal) {
	t.note("%s %s", t.errStyle.bold.Render("unitask"), readBuild().Version)
	t.note("")
	t.note("  API        %s", b.settings.BaseURL)
	t.note("  contract   %s%s", b.settings.BaseURL, api.PathOpenAPIYAML)
	t.note("  console    %s%s", b.settings.BaseURL, console.Root+"/")
	for _, d := range doors {
		if slices.Contains(b.settings.Doors, d.name) {
			t.note("  door       %s%s for %s's libraries", b.settings.BaseURL, d.base, d.maker)
		}
	}
	if b.settings.MCPHTTP {
		t.note("  tools      %s%s for clients of the Model Context Protocol", b.settings.BaseURL, api.PathMCP)
	}
	t.note("  settings   %s", b.origin)
	t.note("  data       %s", b.dataDir)
	for i, s := range b.suppliers.Statuses {
		head := ""
		if i == 0 {
			head = "suppliers"
		}
		mark := t.errStyle.good.Render("live")
		if !s.Live {
			mark = t.errStyle.faint.Render("off ")
		}
		t.note("  %-9s  %-10s %s  %s", head, s.Name, mark, s.About)
	}
	if about := aboutPolicy(b.suppliers.Policy); about != "" {
		t.note("  policy     %s", about)
	}
	t.note("")
	if !b.suppliers.AnyLive() {
		t.note("  No supplier is live: a live key has nothing to call. Test keys work.")
	}
	if !b.local {
		t.note("  Other machines can reach this address, and there is no TLS here: put a proxy with TLS in front.")
		t.note("  Results' addresses begin with %s; base_url in the settings names another.", b.settings.BaseURL)
	}
	b.printKeys(t)
	if b.link != "" {
		t.note("  Sign in    %s", b.link)
		t.note("  The link works once, for ten minutes. Another one: unitask open")
	} else {
		t.note("  A link into the console: unitask open --print --data-dir %s", b.dataDir)
	}
	t.note("")
}

func (b banner) printKeys(t *terminal) {
	for _, k := range b.keys {
		t.note("  %-4s key   %s", k.Mode, k.Secret)
	}
	if len(b.keys) > 0 {
		t.note("  Keep them: they are shown this once.")
	}
	t.note("  More keys: unitask keys create --name NAME --mode test --data-dir %s", b.dataDir)
	switch {
	case b.profileErr != nil:
		t.note("  The profile %q couldn't be saved: %v", client.LocalProfile, b.profileErr)
	default:
		t.note("  Try it in another terminal: unitask run text.chat \"Say hello\"%s", reach(b.dataDir))
	}
}

// aboutPolicy describes the content policy in a line; "" without one.
func aboutPolicy(p *policy.Policy) string {
	if p == nil {
		return ""
	}
	var parts []string
	if n := len(p.Rules); n > 0 {
		parts = append(parts, fmt.Sprintf("%d content rules", n))
	}
	if m := p.Moderation; m != nil {
		otherwise := "refused"
		if m.AllowFailed {
			otherwise = "taken"
		}
		scope := "all work"
		if len(m.Capabilities) > 0 {
			scope = strings.Join(m.Capabilities, ", ")
		}
		parts = append(parts, fmt.Sprintf("%s is asked about the texts of %s, which are %s where it can't be", m.Supplier, scope, otherwise))
	}
	return strings.Join(parts, "; ")
}

// watched reports whether a person sits before the terminal, so that secrets may be shown there. A container's output
// is kept as its log, even on a terminal.
func (t *terminal) watched(container bool) bool { return t.inTTY && t.errTTY && !container }

// inContainer reports whether this process runs in a container, by the marks that Docker, Podman, systemd-nspawn and
// Kubernetes leave in the file system, which is at root, and in the environment.
func inContainer(root string, getenv func(string) string) bool {
	for _, mark := range []string{".dockerenv", "run/.containerenv", "run/systemd/container"} {
		if _, err := os.Stat(filepath.Join(root, mark)); err == nil {
			return true
		}
	}
	return getenv("container") != "" || getenv("KUBERNETES_SERVICE_HOST") != ""
}

// firstKeys makes a test and a live key on a store without keys, if a person is there to read them.
func firstKeys(ctx context.Context, o *operator.Operator, watched bool) ([]api.Key, error) {
	known, err := o.ListKeys(ctx)
	if err != nil || len(known) > 0 || !watched {
		return nil, err
	}
	var made []api.Key
	for _, mode := range []task.Mode{task.Test, task.Live} {
		k, err := o.CreateKey(ctx, api.KeyCreate{Name: "first " + string(mode), Mode: mode})
		if err != nil {
			return nil, err
		}
		made = append(made, k)
	}
	return made, nil
}

// saveLocalProfile lets the client on this machine find the server: in the profile of its data folder, which keeps
// its key, else in LocalProfile. That profile is replaced only if it is of another folder on which no server answers
// any more, and login kept no key in it; one without a data folder, or with an operator key, is a person's own.
func saveLocalProfile(ctx context.Context, baseURL, dataDir string) error {
	dir := client.ConfigDir()
	known, err := client.LoadProfiles(dir)
	if err != nil {
		return err
	}
	name := cmp.Or(known.OfDataDir(dataDir), client.LocalProfile)
	old, exists := known.Profiles[name]
	want := client.Profile{BaseURL: baseURL, DataDir: dataDir}
	switch {
	case !exists:
	case old.Operator:
		return nil
	case old.DataDir == dataDir:
		want.Key, want.Sealed = old.Key, old.Sealed
	case old.KeyFrom() != client.FromLocalServer, answers(ctx, old.DataDir):
		return nil
	}
	if old == want {
		return nil
	}
	return client.SaveProfile(dir, name, want)
}

// reach is the flag with which a client on this machine calls the server on a data folder, with a space before; "" if
// it isn't necessary.
func reach(dataDir string) string {
	known, err := client.LoadProfiles(client.ConfigDir())
	if err == nil && known.Profiles[known.Current].DataDir == dataDir {
		return ""
	}
	return " --data-dir " + snippet.Word(dataDir)
}

// answers reports whether a server runs on the data folder, one that answers badly included.
func answers(ctx context.Context, dataDir string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second) // it is on this machine
	defer cancel()
	admin, err := client.NewAdmin(dataDir)
	if err != nil {
		return false
	}
	_, err = admin.Info(ctx)
	_, away := errors.AsType[*client.UnreachableError](err)
	return !away || ctx.Err() != nil
}

// loopback reports whether only this machine reaches the address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && addr.IsLoopback())
}

// nextPort returns the address with the port after it.
func nextPort(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	var n uint16
	if _, err := fmt.Sscan(port, &n); err != nil || n == 65535 {
		return net.JoinHostPort(host, "0")
	}
	return net.JoinHostPort(host, fmt.Sprint(n+1))
}
