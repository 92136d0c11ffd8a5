package main

import "fmt"

// databases are the rows about what PostgreSQL does without unitask, and about one node beside it.
var databases = []row{
	{name: "PostgreSQL: statements of a task alone, pgbench", figure: "pgbare rate", unit: perSecond},
	{name: "PostgreSQL: a plain queue, pgbench", figure: "pgqueue rate", unit: perSecond},
	{name: "PostgreSQL: River, 64 callers", figure: "river64 rate", unit: perSecond},
	{name: "… p50", figure: "river64 p50", unit: millis},
	{name: "PostgreSQL: River, 256 callers", figure: "river256 rate", unit: perSecond},
	{
		name: "synchronous tasks on PostgreSQL, 1 node, 64 callers", figure: "pg1c64 rate", unit: perSecond, base: "pgbare rate", beside: "pgbench",
		goal: goal{must: 0.7, moonshot: 1},
	},
	{
		name: "… compared with a plain queue", figure: "pg1c64 rate", unit: perSecond, base: "pgqueue rate", beside: "plain queue",
		goal: goal{must: 0.7, moonshot: 1},
	},
	{
		name: "… compared with River", figure: "pg1c64 rate", unit: perSecond, base: "river64 rate", beside: "River",
		goal: goal{must: 1, moonshot: 2},
	},
	{
		name: "synchronous tasks on PostgreSQL, 1 node, 256 callers", figure: "pg1c256 rate", unit: perSecond, base: "river256 rate", beside: "River",
		goal: goal{must: 1, moonshot: 2},
	},
	{name: "direct p50, 200/s", figure: "direct200 p50", unit: millis},
	{
		name: "synchronous p50 on PostgreSQL, 200/s", figure: "pg200 p50", unit: millis, base: "direct200 p50", beside: "direct", added: true,
		goal: goal{must: 4e-3, moonshot: 2e-3, atMost: true},
	},
	{name: "synchronous p99 on PostgreSQL, 200/s", figure: "pg200 p99", unit: millis, base: "direct200 p99", beside: "direct", added: true},
}

// fleetRows are those of each number of nodes and callers. All servers, the load included, share the machine.
func fleetRows() (rows []row) {
	for _, f := range fleets {
		of := fmt.Sprintf(", nodes × callers %d × %d", f.nodes, f.callers)
		if f.nodes > 1 {
			rows = append(rows, row{
				name: "synchronous tasks on PostgreSQL" + of, figure: f.name() + " rate", unit: perSecond,
				base: fleetOf{1, f.callers}.name() + " rate", beside: "one node",
			})
		}
		rows = append(rows,
			row{name: "… p50" + of, figure: f.name() + " p50", unit: millis},
			row{name: "… p99" + of, figure: f.name() + " p99", unit: millis},
			row{name: "… nodes' CPU a task" + of, figure: f.name() + " cpu", unit: micros},
			row{name: "… PostgreSQL's CPU a task" + of, figure: f.name() + " database_cpu", unit: micros},
			row{name: "… operations in a commit" + of, figure: f.name() + " group", unit: times},
			row{name: "… RssAnon of a node" + of, figure: f.name() + " anon", unit: megabytes, goal: goal{must: 64 << 20, moonshot: 32 << 20, atMost: true}},
			row{name: "… RSS of a node" + of, figure: f.name() + " rss", unit: megabytes},
		)
	}
	return rows
}

// millions are the rows about a database that holds much.
func (p plan) millions() []row {
	stored := fmt.Sprintf(", %d stored", p.stored)
	return []row{
		{
			name: "synchronous tasks on PostgreSQL, 64 callers" + stored, figure: "pgmillion rate", unit: perSecond, base: "pg1c64 rate", beside: "empty",
			goal: goal{must: 0.8, moonshot: 0.95},
		},
		{
			name: "synchronous p99 on PostgreSQL, 200/s, while all are swept" + stored, figure: "pgmillion p99", unit: millis,
			base: "pgmillion quiet_p99", beside: "quiet", goal: goal{must: 2, moonshot: 1.2, atMost: true},
		},
		{name: "… the sweep takes" + stored, figure: "pgmillion sweep_time", unit: millis},
		{
			name: "… RssAnon after load" + stored, figure: "pgmillion anon", unit: megabytes,
			goal: goal{must: 64 << 20, moonshot: 32 << 20, atMost: true},
		},
		{name: "… ready after a start" + stored, figure: "pgmillion ready", unit: millis},
	}
}
