package store

import (
	"context"
	"strings"
	"time"
)

// Pauses is an optional interface of an engine: which suppliers an operator has paused. They are rows beside the service's
// secrets, and leave no trace there once they are over.
type Pauses interface {
	// PutPause records that a supplier is paused, in place of an earlier pause of it.
	PutPause(ctx context.Context, p Pause) error
	// DeletePause ends the pause of a supplier; a missing one is no error.
	DeletePause(ctx context.Context, supplier string) error
	// ListPauses returns every pause, by the suppliers' names. It is cheap enough for each second.
	ListPauses(ctx context.Context) ([]Pause, error)
}

// Pause is a supplier's, until an operator ends it.
type Pause struct {
	Supplier string    `json:"supplier"`
	At       time.Time `json:"at"`
	By       string    `json:"by"` // who paused it, for people
}

// The names of the rows of pauses begin with pausePrefix; PausesEnd is the first name after them.
const (
	pausePrefix = "pause/"
	PausesEnd   = "pause0"
)

// PauseName is the name of the row of a supplier's pause; that of "" comes before all of them.
func PauseName(supplier string) string { return pausePrefix + supplier }

// IsPause reports whether a row beside the secrets is that of a pause.
func IsPause(name string) bool { return strings.HasPrefix(name, pausePrefix) }
