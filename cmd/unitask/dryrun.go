package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/task"
)

// dryRunTime is how long a service that doesn't answer holds up what needs no answer.
const dryRunTime = 3 * time.Second

// dryRunRun prints the request without sending it. The service is asked for its directory; where it can't
// be, the built-in one stands in, and what that doesn't know is said.
func (o *runOptions) dryRunRun(ctx context.Context, t *terminal) error {
	target, err := o.target()
	if err != nil {
		return err
	}
	entry, err := o.dryRunEntry(ctx, t)
	if err != nil {
		return err
	}
	req, err := fit(entry, o.words, &reader{stdin: t.in, stdinUsed: o.keyFile == "-"})
	if err != nil {
		return err
	}
	return writeCurl(t.out, target.BaseURL, o.idempotencyKey, req)
}

func (o *runOptions) dryRunEntry(ctx context.Context, t *terminal) (api.Capability, error) {
	limited, cancel := context.WithTimeout(ctx, dryRunTime)
	defer cancel()
	c, err := o.connect(limited, t, func(client.Retry) {})
	if err == nil {
		var entry api.Capability
		if entry, err = entryOf(limited, c, o.capability); err == nil {
			return entry, nil
		}
	}
	if _, asked := errors.AsType[*usageError](err); asked || ctx.Err() != nil {
		return api.Capability{}, err
	}
	t.note("not checked: whether the service has %s, takes its key and has the same fields (%s); the fields of this program's own directory hold", o.capability, plain(err))
	return builtIn(o.capability)
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

// writeCurl prints the request as a command for a POSIX shell. The key is named, never shown.
func writeCurl(w io.Writer, baseURL, idempotencyKey string, req api.CreateRequest) error {
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `curl -sS %s \
  -H "Authorization: Bearer $UNITASK_API_KEY" \
  -H 'Content-Type: application/json' \
  -H %s \
  -d %s
`, quoted(baseURL+api.PathTasks), quoted(api.HeaderIdempotencyKey+": "+idempotencyKey), quoted(string(body)))
	return err
}

// quoted makes one word of any text for a POSIX shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
