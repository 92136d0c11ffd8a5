package gateway

import (
	"context"

	"unitask/internal/api"
	"unitask/internal/task"
)

// Agrees reports whether pieces that were told are of an output.
func Agrees(o *task.Output, told ...api.Delta) bool {
	var v textStream
	for _, piece := range told {
		v.append(piece)
	}
	return v.agrees(o)
}

// Followed returns how many tasks' texts are kept for the streams that follow them.
func Followed(g *Gateway) int64 { return g.texts.open.Load() }

// Unloaded reports whether no large input is in memory: more than the room for them all is given to who is alone.
func Unloaded(g *Gateway) bool {
	const nobody, more = "", 1 << 60
	if !g.loads.Try(nobody, more) {
		return false
	}
	g.loads.Give(nobody, more)
	return true
}

// NameOf is what a line of the log calls a task.
var NameOf = nameOf

// MostTexts and UsageBy bound and choose the sums of a task's usage.
const MostTexts = mostTexts

func UsageBy(ctx context.Context, g *Gateway, owner string, m task.Metadata) []string {
	return g.usageBy(ctx, owner, m)
}

// Forget looks through the copies of requests that are due to be erased.
func Forget(ctx context.Context, g *Gateway) { g.forget(ctx) }
