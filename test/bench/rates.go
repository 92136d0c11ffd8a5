package main

import (
	"context"
	"net/http"
	"time"

	"unitask/internal/task"
)

// figures is the results of one measurement, by name, in base units: seconds, bytes, per second.
type figures map[string]float64

// The names of figures.
const (
	rate         = "rate"
	cpu          = "cpu" // seconds a request
	p50          = "p50"
	p99          = "p99"
	p999         = "p99.9"
	quietP99     = "quiet_p99" // without a sweep
	sweepStep    = "sweep_step"
	waitP99      = "wait_p99" // for a processor
	waitP999     = "wait_p99.9"
	idle         = "idle" // RssAnon before any load
	anon         = "anon" // RssAnon after it
	rss          = "rss"
	ready        = "ready" // from a process's start
	readyKilled  = "ready_killed"
	openClosed   = "open_closed" // bbolt alone
	openKilled   = "open_killed"
	allocations  = "allocations" // a request
	size         = "size"
	sizeFreelist = "size_freelist"
	databaseCPU  = "database_cpu" // seconds a task
	loadCPU      = "load_cpu"     // of the driver and the upstream
	sweepTime    = "sweep_time"
	logUse       = "log_use" // part of the time in which the database syncs its log
	group        = "group"   // operations in a commit
)

// measurement finds figures for about as long as it is told.
type measurement struct {
	name    string
	measure func(ctx context.Context, d time.Duration) (figures, error)
}

// hello is the input of every chat.
const hello = `"prompt":"hello"`

// paced is how many requests a second the measurements of latency send.
const paced = 500

// asyncChat makes chats asynchronous: queued, claimed by a worker, and answered by the mock upstream.
const asyncChat = `capabilities:
  - name: text.chat
    title: Chat
    description: Answers a prompt, later.
    modality: text
    mode: async
    deadline: 5m
    input:
      type: object
      properties:
        prompt: {type: string, description: What to answer., maxLength: 4000000}
      required: [prompt]
      additionalProperties: false
    parameters: {type: object, properties: {}, additionalProperties: false}
    output:
      type: object
      properties:
        text: {type: string, description: The answer.}
        finish_reason: {type: string, description: Why it ends.}
      required: [text, finish_reason]
      additionalProperties: false
    example:
      capability: text.chat
      input: {prompt: 'Say hello.'}
`

// measurements returns those that alternate over the rounds.
func (b *testbed) measurements() []measurement {
	chat := func(n *node) target { return n.tasks("text.chat", hello, "", http.StatusOK) }
	live, slow := nodeOptions{mode: task.Live}, nodeOptions{mode: task.Live, slow: true}
	doors := nodeOptions{mode: task.Live, doors: true}
	async := nodeOptions{mode: task.Live, catalog: asyncChat}
	full := nodeOptions{mode: task.Live, catalog: asyncChat, slow: true, places: 1} // accepted tasks wait
	all := []measurement{
		{"direct", b.full(b.upstream, plain(b.upstream.address, "v1"), 64)},
		{"proxy", b.full(b.proxy, plain(b.proxy.address, "v1"), 64)},
		{"sync64", b.onNode(live, chat, 64)},
		{"standard64", b.onNode(nodeOptions{mode: task.Live, standard: true}, chat, 64)},
		{"native64", b.onNode(doors, native, 64)},
		{"door64", b.onNode(doors, completions, 64)},
		{"response64", b.onNode(doors, responses, 64)},
		{"portkey64", b.portkey},
		{"sync256", b.onNode(live, chat, 256)},
		{"wideproxy", b.full(b.proxy, widePlain(b.proxy.address), wideCallers)},
		{"wide", b.onNode(live, func(n *node) target { return n.tasks("text.chat", wideInput(), "", http.StatusOK) }, wideCallers)},
		{"routes10", b.onNode(routed(10), chat, 64)},
		{"routes1000", b.onNode(routed(1000), chat, 64)},
		{"routes10000", b.onNode(routed(10_000), chat, 64)},
		{"accept", b.onNode(full, func(n *node) target { return n.tasks("text.chat", hello, "", http.StatusAccepted) }, 64)},
		{"async", b.onNode(async, func(n *node) target {
			return n.tasks("text.chat", hello, "Prefer: wait=60\r\n", http.StatusOK)
		}, 256)},
		{"direct0", b.steady(plain(b.upstream.address, "v1"), paced)},
		{"proxy0", b.steady(plain(b.proxy.address, "v1"), paced)},
		{"unitask0", b.onNode(live, chat, 0)},
		{"direct50", b.steady(plain(b.upstream.address, slowPath), paced)},
		{"proxy50", b.steady(plain(b.proxy.address, slowPath), paced)},
		{"unitask50", b.onNode(slow, chat, 0)},
		{"disk", b.disk},
		{"wake", b.woken},
		{"client", b.client},
		{"keyring", b.keyring},
		{"gate10", gated(10)},
		{"gate100000", gated(100_000)},
		{"stored", b.stored.measure},
		{"queued", b.queued.measure},
		{"aged", b.aged.measure},
		{"direct200", b.steady(plain(b.upstream.address, "v1"), fleetPaced)},
		{"pg200", b.fleetSteady()},
		{"pgmillion", b.million.measure},
		{"pgbare", b.bare()},
		{"pgqueue", b.queue()},
		{"river64", b.river(64)},
		{"river256", b.river(256)},
	}
	for _, f := range fleets {
		all = append(all, measurement{f.name(), b.onFleet(f)})
	}
	return all
}

// routed is a server of synchronous tasks with so many routes.
func routed(n int) nodeOptions { return nodeOptions{mode: task.Live, routes: n - 1} }

// full measures a server that so many callers keep busy.
func (b *testbed) full(p *process, t target, callers int) func(context.Context, time.Duration) (figures, error) {
	return func(ctx context.Context, d time.Duration) (figures, error) {
		if _, err := saturate(ctx, callers, warmUp(d), t); err != nil {
			return nil, err
		}
		before := p.cpu()
		done, err := saturate(ctx, callers, d, t)
		used := p.cpu() - before
		return figures{rate: float64(done.answers) / done.took.Seconds(), cpu: used.Seconds() / float64(done.answers)}, err
	}
}

// steady measures latency at a fixed rate.
func (b *testbed) steady(t target, perSecond int) func(context.Context, time.Duration) (figures, error) {
	return func(ctx context.Context, d time.Duration) (figures, error) {
		if _, err := pace(ctx, t, perSecond, warmUp(d)); err != nil {
			return nil, err
		}
		took, err := pace(ctx, t, perSecond, d)
		return figures{p50: quantile(took, 0.50), p99: quantile(took, 0.99)}, err
	}
}

// onNode measures a fresh server, saturated or, without callers, at the fixed rate.
func (b *testbed) onNode(o nodeOptions, t func(*node) target, callers int) func(context.Context, time.Duration) (figures, error) {
	return func(ctx context.Context, d time.Duration) (figures, error) {
		n, err := b.newNode(ctx, o)
		if err != nil {
			return nil, err
		}
		defer n.remove()
		if callers == 0 {
			return b.steady(t(n), paced)(ctx, d)
		}
		f, err := n.profiled(ctx, d, func() (figures, error) { return b.full(n.process, t(n), callers)(ctx, d) })
		if err == nil {
			f[anon], f[rss] = n.memory("RssAnon"), n.memory("VmRSS")
		}
		return f, err
	}
}

// warmUp opens the connections and settles the heaps.
func warmUp(d time.Duration) time.Duration { return min(d/4, 500*time.Millisecond) }

// plain is a chat completion without unitask, at the upstream or through a proxy.
func plain(address, half string) target {
	body := `{"model":"mock","messages":[{"role":"user","content":"hello"}],"max_tokens":100}`
	return posts(address, "/"+half+"/chat/completions", "", body)
}
