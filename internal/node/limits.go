package node

import (
	"math"
	"time"

	"unitask/internal/config"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/server"
	"unitask/internal/upload"
)

const (
	// oneNodeLease outlasts any process: the lock on the bbolt file is the node's claim on every task, so that a disk
	// that stalls for minutes doesn't end a lease.
	oneNodeLease = unbounded
	unbounded    = 100 * 365 * 24 * time.Hour
	immediately  = time.Nanosecond
)

// Limits are the limits of a service's parts. The zero values are the parts' own defaults.
type Limits struct {
	Gate    gate.Defaults
	Gateway gateway.Limits
	Server  server.Limits
	Uploads upload.Limits
	URLs    time.Duration // how long the address of a result holds at most; 0: an hour
}

// limitsOf turns the limits of the settings, in which 0 means no limit, into those of the parts.
func limitsOf(c config.Config) Limits {
	l := c.Limits
	lease := time.Duration(l.Lease)
	if c.OneNode() {
		lease = oneNodeLease
	}
	return Limits{
		Gate: gate.Defaults{
			CreatesPerMinute: l.CreatesPerMinute, ReadsPerMinute: l.ReadsPerMinute, OpenTasks: l.OpenTasks, Queue: l.Queue,
		},
		Gateway: gateway.Limits{
			JSONDepth: countOrMax(l.JSONDepth), InlineMedia: bytesOrMax(l.InlineMedia), WorkMemory: bytesOrMax(l.WorkMemory),
			ArtifactBytes: bytesOrMax(l.Artifact), ArtifactTTL: durationOr(l.ArtifactTTL, unbounded),
			SyncWait: durationOr(l.SyncWait, immediately), PlaceWait: durationOr(l.PlaceWait, immediately),
			Retention: durationOr(l.Retention, unbounded), Usage: durationOr(l.Usage, unbounded),
			Workers: countOrMax(l.Workers), Takeovers: countOrMax(l.Takeovers), Grace: durationOr(l.ShutdownGrace, immediately),
			LeaseTerm: lease, UsageBy: c.UsageMetadata,
		},
		Server: server.Limits{
			Body: bytesOrMax(l.Body), BodyMemory: bytesOrMax(l.BodyMemory), BodyDisk: bytesOrMax(l.BodyDisk),
			Connections: countOrMax(l.Connections), PerAddress: countOrMax(l.PerAddress), RefusedKeys: countOrMax(l.RefusedKeys),
		},
		Uploads: upload.Limits{
			Artifact: bytesOrMax(l.Artifact), Quota: bytesOrMax(l.UploadQuota), TTL: durationOr(l.ArtifactTTL, unbounded),
		},
		URLs: time.Duration(l.URLTTL),
	}
}

// durationOr returns zero for 0: the meaning of "no limit" in that place.
func durationOr(d config.Duration, zero time.Duration) time.Duration {
	if d == 0 {
		return zero
	}
	return time.Duration(d)
}

// bytesOrMax returns the largest size for 0, no limit.
func bytesOrMax(n config.Size) int64 {
	if n == 0 {
		return math.MaxInt64
	}
	return int64(n)
}

// countOrMax returns the largest count for 0, no limit.
func countOrMax(n int) int {
	if n == 0 {
		return math.MaxInt32 // an int on every machine
	}
	return n
}
