package node

import (
	"context"

	"unitask/internal/notify"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// newWebhooks makes the endpoints of accounts and the sender, unless there are none or the store keeps none.
func (s *Service) newWebhooks(ctx context.Context, db Engine, c ServiceConfig) error {
	kept, ok := db.(notify.Store)
	if !ok || c.Webhooks.Fetcher == nil {
		return nil
	}
	secret, err := db.Secret(ctx, "webhooks", webhook.ServiceSecretSize)
	if err != nil {
		return err
	}
	name := task.NewID("node_", c.Now())
	s.sender = notify.NewSender(notify.SenderConfig{
		Store: kept, Secret: secret, Node: name, Dial: c.Webhooks.Fetcher.Dialer(), HTTP: c.Webhooks.HTTP, Version: c.Version, Now: c.Now, Logger: c.Logger,
		Observer: c.Metrics, Budgets: s.Operator.NearBudgets,
	})
	s.endpoints = notify.New(notify.Config{
		Store: kept, Secret: secret, Dial: c.Webhooks.Fetcher.Dialer(), Guard: c.Webhooks.Fetcher, HTTP: c.Webhooks.HTTP, Sender: s.sender,
		Node: name, Version: c.Version, Now: c.Now, DirectoryFunc: s.Gateway.Directory,
	})
	return nil
}
