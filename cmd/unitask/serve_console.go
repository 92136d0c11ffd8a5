package main

import (
	"log/slog"

	"unitask/internal/artifact"
	"unitask/internal/server/console"
)

// newConsole returns the pages for people.
func (n *node) newConsole(signer *artifact.Signer, baseURL string, log *slog.Logger) (*console.Console, error) {
	return console.New(console.Config{
		Desk: n.operator, Gateway: n.gateway, Signer: signer, BaseURL: baseURL, Now: wallClock, Logger: log,
	})
}
