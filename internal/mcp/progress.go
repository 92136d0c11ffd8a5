package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
)

const (
	wholeProgress = 100             // of a notification's total
	doneProgress  = 90              // of a task that says it is done: later steps need room
	leastProgress = 0.1             // between two, for the protocol wants each larger than the last
	beatInterval  = 5 * time.Second // without news of the task; many clients wait on as long as they hear something
)

// progress tells a call's client how its task gets on. It is safe for concurrent use; without a client that asked for
// it, it is silent.
type progress struct {
	session *sdk.ServerSession
	token   any
	started time.Time
	end     func()

	mu   sync.Mutex
	at   float64
	what string
}

func (s *Server) startProgress(ctx context.Context, req *sdk.CallToolRequest) *progress {
	p := &progress{session: req.Session, token: req.Params.GetProgressToken(), started: time.Now(), what: "submitted"}
	beating, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	if p.token != nil {
		done.Go(func() { p.beat(beating) })
	}
	p.end = func() { cancel(); done.Wait() }
	return p
}

// stop ends the notifications: later ones are dropped.
func (p *progress) stop() { p.end() }

// shown takes a task's new revisions.
func (p *progress) shown(ctx context.Context) func(api.Task) {
	return func(now api.Task) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.what = stateOf(now)
		if now.Progress != nil {
			p.at = max(p.at, *now.Progress*doneProgress)
		}
		p.notifyLocked(ctx)
	}
}

func (p *progress) beat(ctx context.Context) {
	tick := time.NewTicker(beatInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.mu.Lock()
			p.notifyLocked(ctx)
			p.mu.Unlock()
		}
	}
}

func (p *progress) notifyLocked(ctx context.Context) {
	if p.token == nil {
		return
	}
	p.at += leastProgress
	_ = p.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ // who is gone needs no news
		ProgressToken: p.token, Progress: p.at, Total: wholeProgress,
		Message: fmt.Sprintf("%s, %d s", p.what, int(time.Since(p.started).Seconds())),
	})
}
