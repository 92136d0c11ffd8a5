package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/snippet"
	"unitask/internal/task"
)

// shortWait bounds waiting for a service whose answer isn't necessary.
const shortWait = 3 * time.Second

// dryRunRun prints the request without sending it, behind the commands that send its large files ahead. The service is asked for its directory; if it can't be had, the
// built-in one replaces it, and its gaps are reported.
func (o *runOptions) dryRunRun(ctx context.Context, t *terminal) error {
	target, err := o.target(ctx)
	if err != nil {
		return err
	}
	entry, _, err := o.likelyEntry(ctx, t)
	if err != nil {
		return err
	}
	large := unsentFiles{}
	req, files, err := o.request(ctx, t, entry, large)
	if err != nil {
		return err
	}
	paths := map[string]string{}
	for _, f := range files {
		paths[base64.StdEncoding.EncodeToString(f.Bytes)] = f.Path
	}
	curl, err := snippet.Curl(target.BaseURL, o.idempotencyKey, req, paths)
	if err != nil {
		return err
	}
	_, err = io.WriteString(t.out, t.safe(snippet.Ahead(curl, target.BaseURL, large)))
	return err
}

// unsentFiles are the large files of a request that isn't sent, by the names of variables.
type unsentFiles map[string]string

func (u unsentFiles) send(f *os.File, _ int64, _ string) (string, error) {
	name := fmt.Sprintf("FILE_%d", len(u)+1)
	u[name] = f.Name()
	return name, nil
}

func (unsentFiles) check(api.CreateRequest) error { return nil }

// likelyEntry finds the capability at the service, or in the built-in directory, and says so; told is false of that one.
func (o *runOptions) likelyEntry(ctx context.Context, t *terminal) (entry api.Capability, told bool, err error) {
	c, err := o.connect(ctx, t, func(client.Retry) {}) // which may ask for a passphrase
	limited, cancel := context.WithTimeout(ctx, shortWait)
	defer cancel()
	if err == nil {
		if entry, err = entryOf(limited, c, o.capability); err == nil {
			return entry, true, nil
		}
	}
	if _, asked := errors.AsType[*hint.UsageError](err); asked || ctx.Err() != nil {
		return entry, false, err
	}
	t.note("not checked: whether the service has %s, takes its key and has the same fields (%s); the fields of this program's own directory hold", o.capability, plain(err))
	entry, err = builtIn(o.capability)
	return entry, false, err
}

// builtIn finds a capability in the directory that a service has by default.
func builtIn(name string) (api.Capability, error) {
	directory, err := catalog.Default()
	if err != nil {
		return api.Capability{}, err
	}
	var all []api.Capability
	for _, one := range directory.All() {
		all = append(all, api.FromCapability(one, task.Price{}))
	}
	return pick(all, name, "this program's own directory has no capability")
}
