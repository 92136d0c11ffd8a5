package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"sync"

	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Tally counts the records of a store and adds up their SHA-256 values, by kind. It doesn't depend on their order.
type Tally []Sum

// Sum is that of one kind of records.
type Sum struct {
	Kind   string `json:"kind"`
	Count  int64  `json:"count"`
	Digest Digest `json:"digest"`
}

// The kinds of tasks.
const (
	openTasks  = "open tasks"
	endedTasks = "ended tasks"
)

// Digest is a sum of SHA-256 values, modulo 2^256.
type Digest [sha256.Size]byte

// MarshalText writes the digest in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(d[:])), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(d[:], text); err != nil || n != len(d) {
		return fmt.Errorf("store: a digest of %d characters", len(text))
	}
	return nil
}

// add adds the hash of a record.
func (s *Sum) add(record []byte) {
	hash := sha256.Sum256(record)
	var carry uint64
	for i := len(hash) - 8; i >= 0; i -= 8 {
		var word uint64
		word, carry = bits.Add64(binary.BigEndian.Uint64(s.Digest[i:]), binary.BigEndian.Uint64(hash[i:]), carry)
		binary.BigEndian.PutUint64(s.Digest[i:], word)
	}
	s.Count++
}

// addAll adds records in JSON, each of a kind that has one form.
func addAll[T any](tally *Tally, kind string, records []T) error {
	s := Sum{Kind: kind}
	for _, r := range records {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		s.add(text)
	}
	*tally = append(*tally, s)
	return nil
}

// TallyOf reads a store whole. heard is told how many tasks were read.
func TallyOf(ctx context.Context, from Source, heard func(tasks int64)) (tally Tally, epoch int64, err error) {
	c, err := from.Contents(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, add := range []func() error{
		func() error { return addAll(&tally, "accounts", c.Accounts) },
		func() error { return addAll(&tally, "keys", c.Keys) },
		func() error { return addAll(&tally, "links", c.Links) },
		func() error { return addAll(&tally, "sessions", c.Sessions) },
		func() error { return addAll(&tally, "secrets", c.Secrets) },
		func() error { return addAll(&tally, "usage", c.Usage) },
		func() error { return addAll(&tally, "spend", c.Spend) },
		func() error { return addAll(&tally, "counters", c.Counters) },
		func() error { return addAll(&tally, "endpoints", c.Endpoints) },
		func() error { return addAll(&tally, "deliveries", c.Deliveries) },
	} {
		if err := add(); err != nil {
			return nil, 0, err
		}
	}
	open, ended := Sum{Kind: openTasks}, Sum{Kind: endedTasks}
	var room []byte
	for t, err := range from.Tasks(ctx, "") {
		if err != nil {
			return nil, 0, err
		}
		if room, err = addTask(room[:0], &t, &open, &ended); err != nil {
			return nil, 0, err
		}
		if n := open.Count + ended.Count; n%copyTasks == 0 {
			heard(n)
		}
	}
	return append(tally, open, ended), c.Epoch, nil
}

func addTask(room []byte, t *task.Task, open, ended *Sum) ([]byte, error) {
	w := jsonwrite.Append(room)
	t.Write(w)
	text, err := w.Bytes()
	if err != nil {
		return room, fmt.Errorf("store: encode a task: %w", err)
	}
	if t.State.Terminal() {
		ended.add(text)
	} else {
		open.add(text)
	}
	return text, nil
}

// verify compares the target with the source. Both are read at once.
func verify(ctx context.Context, from, to Source, heard func(Phase, int64)) (Tally, error) {
	var want, got Tally
	var wantEpoch, gotEpoch int64
	ctx, stop := context.WithCancelCause(ctx) // by the first error, so that it isn't taken for the other's
	var reading sync.WaitGroup
	reading.Go(func() {
		var err error
		if want, wantEpoch, err = TallyOf(ctx, from, func(int64) {}); err != nil {
			stop(err)
		}
	})
	var err error
	if got, gotEpoch, err = TallyOf(ctx, to, func(n int64) { heard(PhaseVerify, n) }); err != nil {
		stop(err)
	}
	reading.Wait()
	defer stop(nil)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var tasks int64
	for i, w := range want {
		if w != got[i] {
			return nil, fmt.Errorf("%w: %s: %d with the digest %x in the source, %d with %x in the copy",
				ErrDiffers, w.Kind, w.Count, w.Digest[:4], got[i].Count, got[i].Digest[:4])
		}
		if w.Kind == openTasks || w.Kind == endedTasks {
			tasks += w.Count
		}
	}
	if tasks > 0 && gotEpoch < wantEpoch {
		return nil, fmt.Errorf("%w: leases would begin at %d, and the source had given %d", ErrDiffers, gotEpoch, wantEpoch)
	}
	return want, nil
}
