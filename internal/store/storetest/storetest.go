// Package storetest holds every storage engine to the contract of package store: one suite, split by
// topic, and a state machine that compares whole answers with memstore after random operations.
//
// An engine's test calls Run. An engine declares a missing ability by leaving a member of Engine nil, and the tests
// of that ability are skipped by name.
package storetest

import (
	"flag"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"unitask/internal/store"
)

// Engine is an engine under test, open and empty.
type Engine struct {
	Store    store.Store
	Registry store.Registry
	Secrets  store.Secrets
	// Crash returns the engine on the state that a crash at this moment would leave. nil: it isn't durable.
	Crash func(t *testing.T) Engine
	// Lasting: sessions, pauses and turns outlast a crash, as those of a database's server do.
	Lasting bool
	// SweepsLate: ended tasks leave up to an eighth of the retention late, together, and what is settled to a counter
	// after that was swept is dropped.
	SweepsLate bool
	// Attach returns another node's engine on the same data. nil: one node at a time.
	Attach func(t *testing.T) Engine
}

// Open makes an empty engine on the given clock and closes it when the test ends.
type Open func(t *testing.T, now func() time.Time) Engine

// Run runs the whole suite.
func Run(t *testing.T, open Open) {
	for _, topic := range slices.Concat(topics(), webhookTopics(), []topic{{"pauses of suppliers", testPauses}}) {
		t.Run(topic.name, func(t *testing.T) {
			topic.test(newEnv(t, open))
		})
	}
	t.Run("model", func(t *testing.T) { testModel(t, open) })
}

// RunRestarts runs those tests of the suite in which the engine is restarted, the random one with so many lives.
func RunRestarts(t *testing.T, lives int, open Open) {
	t.Run("crash", func(t *testing.T) { testCrash(newEnv(t, open)) })
	t.Run("model", func(t *testing.T) {
		checks := flag.Lookup("rapid.checks").Value
		usual := checks.String()
		if err := checks.Set(strconv.Itoa(lives)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = checks.Set(usual) }() // it was valid
		testModel(t, open)
	})
}

// topic is one test of the suite.
type topic struct {
	name string
	test func(*env)
}

func topics() []topic {
	return append(registryTopics(), []topic{
		{"create", testCreate},
		{"first", testFirst},
		{"idempotency", testIdempotency},
		{"concurrent create", testConcurrentCreate},
		{"reopen", testReopen},
		{"reopen after an unknown outcome", testReopenUnknown},
		{"reopen once a failure was shown", testMarkShown},
		{"holds", testHolds},
		{"holds of many at once", testHoldsConcurrent},
		{"holds settle", testHoldsSettle},
		{"holds of what suppliers charge", testHoldsSpend},
		{"holds end", testHoldsEnd},
		{"claim which", testClaimWhich},
		{"claim turns", testClaimTurns},
		{"claim by mode", testClaimMode},
		{"claim by places", testClaimPlaces},
		{"claim once", testClaimOnce},
		{"sessions", testNodeSessions},
		{"an ended session", testEndedSession},
		{"sessions of several nodes", testSeveralNodes},
		{"without a session", testWithoutSession},
		{"notes", testNotes},
		{"worker", testWorker},
		{"cancellations of a node", testListCanceled},
		{"creations again", testCreateAgain},
		{"writes again", testWriteAgain},
		{"writes that aren't repeated", testWriteNotAgain},
		{"claims again", testClaimAgain},
		{"attempts", testAttempts},
		{"own memory", testOwnMemory},
		{"caps", testCaps},
		{"life", testLife},
		{"advance refuses", testAdvanceRefuses},
		{"release", testRelease},
		{"readopt", testReadopt},
		{"cancel", testCancel},
		{"list", testList},
		{"metadata", testMetadata},
		{"lists by metadata", testMetadataList},
		{"lists by date, key, code and kept requests", testListFilters},
		{"kept inputs", testKeepInput},
		{"sweep", testSweep},
		{"wake", testWake},
		{"stats", testStats},
		{"close", testClose},
		{"crash", testCrash},
		{"many nodes", testManyNodes},
	}...)
}

// registryTopics are those of a store.Registry.
func registryTopics() []topic {
	return []topic{
		{"accounts", testAccounts},
		{"accounts with new names", testRename},
		{"keys", testKeys},
		{"rotate a key", testRotate},
		{"last used", testMarkUsed},
		{"changes", testChanges},
		{"links and sessions", testSessions},
		{"redeem once", testRedeemOnce},
		{"usage", testUsage},
		{"spend", testSpend},
		{"usage by metadata", testUsageByMetadata},
		{"usage sweep", testUsageSweep},
		{"secrets", testSecrets},
	}
}

// Clock is a clock that moves when it is told to. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock at a fixed time.
func NewClock() *Clock {
	return &Clock{at: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)}
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
