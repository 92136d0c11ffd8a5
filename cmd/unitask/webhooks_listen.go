package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/webhook"
)

// The times of a listener.
const (
	forwardTime = 10 * time.Second // of one request to the program
	againAfter  = time.Second      // before the stream is opened again
	partingTime = 5 * time.Second  // to delete the listener at the end
)

type webhooksListenOptions struct {
	clientFlags
	filterFlags
	forward string
	budgets bool
}

func newWebhooksListenCmd(t *terminal) *cobra.Command {
	var o webhooksListenOptions
	cmd := &cobra.Command{
		Use:   "listen --forward URL",
		Short: "Pass the ends of tasks on to a program on this machine",
		Long: `Pass the ends of tasks on to a program on this machine, until Ctrl-C. No public address is needed: the events come
over the API.

The first line is the secret of this run, with which the program verifies the signatures as it will those of a webhook.
Then there is a line for each event: time, id, type and the program's answer, in a pipe with tabs between.`,
		Example: `  unitask webhooks listen --forward http://localhost:3000/hooks
  unitask webhooks listen --forward http://localhost:3000 --capability 'image.*' --state failed
  unitask webhooks listen --forward http://localhost:3000 --budgets --api-key-file live.key`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return webhooksListenRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.forward, "forward", "", "the program's `URL`")
	addBudgets(cmd, &o.budgets, "")
	o.addFilters(cmd, "")
	o.add(cmd)
	return cmd
}

func webhooksListenRun(ctx context.Context, t *terminal, o *webhooksListenOptions) error {
	u, err := url.Parse(o.forward)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return &hint.UsageError{Message: "--forward takes the URL of a program, such as http://localhost:3000/hooks"}
	}
	states, err := o.ends()
	if err != nil {
		return err
	}
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	made, err := c.CreateWebhook(ctx, api.WebhookCreate{
		Listener: true, Description: "unitask webhooks listen", Capabilities: o.capabilities, States: states, Budgets: o.budgets,
	})
	if err != nil {
		return err
	}
	defer func() {
		parting, cancel := context.WithTimeout(context.WithoutCancel(ctx), partingTime)
		defer cancel()
		_ = c.DeleteWebhook(parting, made.ID) // or it ends by itself
	}()
	key, err := webhook.ParseSecret(made.Secret)
	if err != nil {
		return err
	}
	l := listener{t: t, client: c, id: made.ID, secret: key, forward: o.forward, http: &http.Client{
		Timeout:       forwardTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.note("events go to %s; Ctrl-C ends it. The secret of this run:", printable(o.forward))
	if _, err := fmt.Fprintln(t.out, t.safe(made.Secret)); err != nil {
		return err
	}
	return l.run(ctx)
}

// listener passes events on.
type listener struct {
	t       *terminal
	client  *client.Client
	id      string
	secret  webhook.Secret
	forward string
	http    *http.Client
}

// run reads one stream after the other. Events whose outcome wasn't told come again in the next one.
func (l *listener) run(ctx context.Context) error {
	cut := false
	opened := func() {
		if cut {
			l.t.note("listening again")
		}
		cut = false
	}
	for {
		err := l.client.ListenWebhook(ctx, l.id, opened, func(e api.WebhookEvent) error { return l.pass(ctx, e) })
		_, refused := errors.AsType[*client.Error](err)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Ctrl-C is how it ends
		case fault.CodeOf(err) == fault.NotFound:
			return hint.With(err, "a listener ends a quarter of an hour after it was heard of; start it again, with another secret")
		case refused && !fault.CodeOf(err).Retryable():
			return err
		case !cut:
			l.t.note("the connection to the service is lost; trying again")
			cut = true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(againAfter):
		}
	}
}

// pass sends an event to the program and tells the service how it went.
func (l *listener) pass(ctx context.Context, e api.WebhookEvent) error {
	start := time.Now()
	status := l.send(ctx, e, start)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := "no answer"
	if status != 0 {
		text = fmt.Sprint(status)
	}
	event := struct {
		Type string `json:"type"`
	}{}
	_ = json.Unmarshal(e.Body, &event)
	line := fmt.Sprintf("%s\t%s\t%s\t%s", start.UTC().Format(time.RFC3339), e.ID, event.Type, text)
	if _, err := fmt.Fprintln(l.t.out, l.t.safe(line)); err != nil {
		return err
	}
	err := l.client.EndDelivery(ctx, l.id, e.ID, api.DeliveryOutcome{Claim: e.Claim, Status: status, Seconds: time.Since(start).Seconds()})
	if err != nil && ctx.Err() == nil {
		l.t.note("%s may come again: %s", printable(e.ID), plain(err))
	}
	return nil
}

// send returns the status of the program's answer, 0 without one.
func (l *listener) send(ctx context.Context, e api.WebhookEvent, now time.Time) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.forward, bytes.NewReader(e.Body))
	if err != nil {
		return 0
	}
	webhook.Sign(req.Header, e.ID, now, e.Body, l.secret)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "unitask")
	resp, err := l.http.Do(req)
	if err != nil {
		return 0
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	_ = resp.Body.Close()
	return resp.StatusCode
}
