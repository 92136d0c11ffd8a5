package main

import (
	"fmt"
)

// Bifrost 1.4's rate against the same reverse proxy on a machine with both: it can't be had from the registries, so
// that it is compared with through this.
const (
	bifrost       = 0.57
	bifrostLogged = 0.33 // into SQLite
)

var rates = []row{
	{name: "direct, 64 callers", figure: "direct rate", unit: perSecond, base: "proxy rate", beside: "proxy"},
	{name: "reverse proxy, 64 callers", figure: "proxy rate", unit: perSecond, base: "proxy rate", beside: "proxy"},
	{name: "reverse proxy, CPU a request", figure: "proxy cpu", unit: micros},
	{
		name: "synchronous tasks, 64 callers", figure: "sync64 rate", unit: perSecond, base: "proxy rate", beside: "proxy",
		goal: goal{must: 0.70, moonshot: 0.90},
	},
	{
		name: "… compared with Bifrost's, nothing logged", figure: "sync64 rate", unit: perSecond, base: "proxy rate", part: bifrost,
		beside: "Bifrost", goal: goal{must: 1.25, moonshot: 1.75},
	},
	{
		name: "… compared with Bifrost's, logged", figure: "sync64 rate", unit: perSecond, base: "proxy rate", part: bifrostLogged,
		beside: "Bifrost", goal: goal{must: 2, moonshot: 3},
	},
	{name: "chats of messages, 64 callers", figure: "native64 rate", unit: perSecond, base: "proxy rate", beside: "proxy"},
	{
		name: "chats by OpenAI's door, 64 callers", figure: "door64 rate", unit: perSecond, base: "native64 rate", beside: "native",
		goal: goal{must: 0.9, moonshot: 1},
	},
	{name: "… compared with the proxy's", figure: "door64 rate", unit: perSecond, base: "proxy rate", beside: "proxy"},
	{name: "… compared with Portkey's", figure: "door64 rate", unit: perSecond, base: "portkey64 rate", beside: "Portkey"},
	{name: "… as responses", figure: "response64 rate", unit: perSecond, base: "native64 rate", beside: "native"},
	{name: "gateway CPU a chat of messages", figure: "native64 cpu", unit: micros},
	{name: "… by OpenAI's door", figure: "door64 cpu", unit: micros, base: "native64 cpu", beside: "native"},
	{name: "… as a response", figure: "response64 cpu", unit: micros, base: "native64 cpu", beside: "native"},
	{name: "Portkey, 64 callers", figure: "portkey64 rate", unit: perSecond, base: "proxy rate", beside: "proxy"},
	{name: "Portkey, CPU a request", figure: "portkey64 cpu", unit: micros, base: "proxy cpu", beside: "proxy"},
	{name: "reverse proxy, chats of a megabyte, 8 callers", figure: "wideproxy rate", unit: perSecond},
	{
		name: "20 messages, 5 tools and an image of 1 MB, 8 callers", figure: "wide rate", unit: perSecond, base: "wideproxy rate", beside: "proxy",
		goal: goal{must: 0.6, moonshot: 0.8},
	},
	{name: "reverse proxy, CPU a chat of a megabyte", figure: "wideproxy cpu", unit: micros},
	{name: "gateway CPU a chat of a megabyte", figure: "wide cpu", unit: micros, base: "wideproxy cpu", beside: "proxy"},
	{name: "synchronous tasks, 256 callers", figure: "sync256 rate", unit: perSecond, base: "proxy rate", beside: "proxy"},
	{
		name: "gateway CPU a synchronous task", figure: "sync64 cpu", unit: micros,
		goal: goal{must: 150e-6, moonshot: 100e-6, atMost: true},
	},
	{name: "… compared with the proxy's", figure: "sync64 cpu", unit: micros, base: "proxy cpu", beside: "proxy"},
	{
		name: "… sent by net/http instead", figure: "standard64 cpu", unit: micros, base: "sync64 cpu", beside: "our own carrier",
		goal: goal{must: 1.1, moonshot: 1.2},
	},
	{name: "… with 10 routes", figure: "routes10 cpu", unit: micros, base: "sync64 cpu", beside: "one route", added: true},
	{name: "… with 1,000 routes", figure: "routes1000 cpu", unit: micros, base: "sync64 cpu", beside: "one route", added: true},
	{name: "… with 10,000 routes", figure: "routes10000 cpu", unit: micros, base: "sync64 cpu", beside: "one route", added: true},
	{name: "synchronous tasks, 64 callers, 10,000 routes", figure: "routes10000 rate", unit: perSecond, base: "sync64 rate", beside: "one route"},
	{
		name: "asynchronous accepts, 64 callers", figure: "accept rate", unit: perSecond, base: "sync64 rate", beside: "synchronous",
		goal: goal{must: 1.2, moonshot: 2},
	},
	{name: "asynchronous tasks to their end, 256 callers", figure: "async rate", unit: perSecond, base: "sync64 rate", beside: "synchronous"},
}

var latencies = []row{
	{name: "reverse proxy p50, 500/s", figure: "proxy0 p50", unit: millis, base: "direct0 p50", beside: "direct", added: true},
	{name: "reverse proxy p99, 500/s", figure: "proxy0 p99", unit: millis, base: "direct0 p99", beside: "direct", added: true},
	{
		name: "synchronous p50, 500/s", figure: "unitask0 p50", unit: millis, base: "direct0 p50", beside: "direct", added: true,
		goal: goal{must: 1.2e-3, moonshot: 0.7e-3, atMost: true},
	},
	{name: "synchronous p99, 500/s", figure: "unitask0 p99", unit: millis, base: "direct0 p99", beside: "direct", added: true},
	{name: "reverse proxy p50, 500/s, 50 ms upstream", figure: "proxy50 p50", unit: millis, base: "direct50 p50", beside: "direct", added: true},
	{name: "reverse proxy p99, 500/s, 50 ms upstream", figure: "proxy50 p99", unit: millis, base: "direct50 p99", beside: "direct", added: true},
	{name: "synchronous p50, 500/s, 50 ms upstream", figure: "unitask50 p50", unit: millis, base: "direct50 p50", beside: "direct", added: true},
	{
		name: "synchronous p99, 500/s, 50 ms upstream", figure: "unitask50 p99", unit: millis, base: "direct50 p99", beside: "direct", added: true,
		goal: goal{must: 4e-3, moonshot: 2e-3, atMost: true},
	},
	{name: "a page written and synced without unitask, 1000/s, p50", figure: "disk p50", unit: millis},
	{name: "… p99", figure: "disk p99", unit: millis},
	{name: "… p99.9", figure: "disk p99.9", unit: millis},
	{name: "… of it waiting for a processor, p99", figure: "disk wait_p99", unit: millis},
	{name: "… of it waiting for a processor, p99.9", figure: "disk wait_p99.9", unit: millis},
}

// storage are the rows about stores that hold much.
func (p plan) storage() []row {
	stored, queued := fmt.Sprintf(", %d stored", p.stored), fmt.Sprintf(", %d queued", p.queued)
	memory := goal{must: 64 << 20, moonshot: 32 << 20, atMost: true}
	start := goal{must: 1, moonshot: 0.2, atMost: true}
	return []row{
		{
			name: "waiting reader woken, p99", figure: "wake p99", unit: millis,
			goal: goal{must: 20e-3, moonshot: 2e-3, atMost: true},
		},
		{
			name: "client, start to first byte sent, p50", figure: "client p50", unit: millis,
			goal: goal{must: 50e-3, moonshot: 20e-3, atMost: true},
		},
		{
			name: "… with its key in a warm keyring", figure: "keyring p50", unit: millis,
			goal: goal{must: 50e-3, moonshot: 20e-3, atMost: true},
		},
		{
			name: "synchronous tasks, 64 callers" + stored, figure: "stored rate", unit: perSecond, base: "sync64 rate", beside: "empty",
			goal: goal{must: 0.8, moonshot: 0.95},
		},
		{name: "synchronous tasks, 64 callers" + queued, figure: "queued rate", unit: perSecond, base: "sync64 rate", beside: "empty"},
		{name: "gate, of a request, p50, 10 keys", figure: "gate10 p50", unit: fineMicros},
		{name: "gate, of a request, p99, 10 keys", figure: "gate10 p99", unit: fineMicros},
		{name: "gate, allocations a request, 10 keys", figure: "gate10 allocations", unit: times},
		{name: "gate, of a request, p50, 100000 keys", figure: "gate100000 p50", unit: fineMicros},
		{name: "gate, of a request, p99, 100000 keys", figure: "gate100000 p99", unit: fineMicros},
		{name: "gate, allocations a request, 100000 keys", figure: "gate100000 allocations", unit: times},
		{name: "RssAnon after load, empty at first", figure: "sync64 anon", unit: megabytes},
		{name: "RssAnon at rest" + stored, figure: "stored idle", unit: megabytes},
		{name: "RssAnon after load" + stored, figure: "stored anon", unit: megabytes, goal: memory},
		{name: "RSS after load" + stored, figure: "stored rss", unit: megabytes},
		{name: "RssAnon at rest" + queued, figure: "queued idle", unit: megabytes},
		{name: "RssAnon after load" + queued, figure: "queued anon", unit: megabytes, goal: memory},
		{name: "ready after a clean stop" + stored, figure: "stored ready", unit: millis, goal: start},
		{name: "ready after kill -9" + stored, figure: "stored ready_killed", unit: millis, goal: start},
		{name: "ready after kill -9" + queued, figure: "queued ready_killed", unit: millis},
		{name: "bbolt alone opens it after a clean stop", figure: "stored open_closed", unit: millis},
		{name: "bbolt alone opens it after kill -9", figure: "stored open_killed", unit: millis},
	}
}

// sweeps are the rows about a store that is swept, and about the size of the database's file.
func (p plan) sweeps() []row {
	aged := fmt.Sprintf(", %d of %d swept", p.old, p.aged)
	return []row{
		{
			name: "creation p99 in the engine while a sweep runs" + aged, figure: "aged p99", unit: millis, base: "aged quiet_p99", beside: "quiet",
			goal: goal{must: 2, moonshot: 1.2, atMost: true},
		},
		{
			name: "… longest step of the sweep" + aged, figure: "aged sweep_step", unit: millis,
			goal: goal{must: 5e-3, moonshot: 1e-3, atMost: true},
		},
		{
			name: "ready after kill -9, cold" + aged, figure: "aged ready_killed", unit: millis,
			goal: goal{must: 1, moonshot: 0.3, atMost: true},
		},
		{name: "RssAnon at rest" + aged, figure: "aged idle", unit: megabytes},
		{name: fmt.Sprintf("database file, %d stored", p.stored), figure: "stored size", unit: megabytes},
		{
			name: fmt.Sprintf("file under a reader of %s, as the engine opens it", p.reader), figure: "reader size", unit: megabytes,
		},
		{
			name: "… with the free list in each commit", figure: "reader size_freelist", unit: megabytes,
			base: "reader size", beside: "without",
		},
	}
}
