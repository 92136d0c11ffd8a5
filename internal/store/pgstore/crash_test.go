package pgstore_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"unitask/internal/store/losstest"
	"unitask/internal/store/pgstore"
	"unitask/internal/store/pgstore/pgtest"
)

const (
	shortCrashes  = 6
	serverCrashes = 25 // of one server: each check reads all that was written since its start
	crashWriters  = 16
	longestSpell  = 300 * time.Millisecond // of writing before a crash
)

// recorder notes the acknowledgements of writers in this process.
type recorder struct {
	mu     sync.Mutex
	record losstest.Record
	bad    int
	ended  bool // a writer that is late isn't heard any more
}

func (r *recorder) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return 0, os.ErrClosed
	}
	if !r.record.Note(string(bytes.TrimSuffix(line, []byte("\n")))) {
		r.bad++
	}
	return len(line), nil
}

// end returns what was noted, and hears no more.
func (r *recorder) end() losstest.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.record
}

// TestCrash ends the database's server or its connections UNITASK_PG_CRASHES times while two nodes write; acknowledged
// writes are there afterwards, as acknowledged.
func TestCrash(t *testing.T) {
	cycles, err := strconv.Atoi(cmp.Or(os.Getenv("UNITASK_PG_CRASHES"), strconv.Itoa(shortCrashes)))
	if err != nil {
		t.Fatalf("UNITASK_PG_CRASHES: %v", err)
	}
	noted, tasks := 0, 0
	for done := 0; done < cycles; done += serverCrashes {
		record, err := crashAgainAndAgain(t, pgtest.Config{Sync: true}, min(serverCrashes, cycles-done))
		if err != nil {
			t.Fatal(err)
		}
		noted, tasks = noted+record.Noted(), tasks+record.Tasks()
	}
	t.Logf("%d crashes: %d writes of %d tasks acknowledged", cycles, noted, tasks)
	if noted < 20*cycles {
		t.Error("the run put too little to the test")
	}
}

// TestCrashFindsAsynchronousCommits is the control: a server that answers before its log is on the disk loses.
func TestCrashFindsAsynchronousCommits(t *testing.T) {
	const cycles = 20
	_, err := crashAgainAndAgain(t, pgtest.Config{Sync: true, Settings: map[string]string{"synchronous_commit": "off", "wal_writer_delay": "5s"}}, cycles)
	if err == nil {
		t.Fatal("asynchronous commits lost nothing: the test proves nothing")
	}
	t.Logf("found, as it should be: %.300s", err)
}

func crashAgainAndAgain(t *testing.T, c pgtest.Config, cycles int) (losstest.Record, error) {
	t.Helper()
	s := pgtest.Start(t, c)
	r := &recorder{}
	for cycle := range cycles {
		crashOnce(t, s, r, cycle)
		db, err := pgstore.Open(t.Context(), pgstore.Config{URL: s.URL()})
		if err != nil {
			t.Fatalf("Open after the crash: %v", err)
		}
		r.mu.Lock() // a writer may be about to note its last line
		err = r.record.Check(t.Context(), db)
		r.mu.Unlock()
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err != nil {
			return r.end(), err
		}
	}
	record := r.end()
	if r.bad > 0 {
		t.Errorf("%d lines that are no acknowledgement", r.bad)
	}
	return record, nil
}

// crashOnce lets two nodes write until the server ends, is stopped, or cuts their connections.
func crashOnce(t *testing.T, s *pgtest.Server, r *recorder, cycle int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var nodes sync.WaitGroup
	for range 2 {
		db, err := pgstore.Open(ctx, pgstore.Config{URL: s.URL()})
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		nodes.Go(func() {
			_ = losstest.Writers{Store: db, Out: r, Count: crashWriters}.Run(ctx)
			<-ctx.Done()
			if err := db.Close(); err != nil { // waits for those who write still
				t.Errorf("Close: %v", err)
			}
		})
	}
	time.Sleep(50*time.Millisecond + rand.N(longestSpell))
	var err error
	switch cycle % 3 {
	case 0:
		err = errors.Join(s.Crash(), s.Restart())
	case 1:
		err = s.KillBackends(ctx)
	default:
		err = errors.Join(s.Stop(), s.Restart())
	}
	if err != nil {
		t.Fatal(err)
	}
	stop()
	nodes.Wait()
}
