package gateway

import "context"

// CrewIdle is how long a goroutine of a crew waits at least.
const CrewIdle = crewIdle

// NewCrew returns what runs functions on a crew's goroutines.
func NewCrew(ctx context.Context) func(func()) { return newCrew(ctx).run }

// Followed returns how many tasks' texts are kept for those who follow them.
func Followed(g *Gateway) int64 { return g.texts.open.Load() }
