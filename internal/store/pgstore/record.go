package pgstore

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/jackc/pgx/v5/pgtype"

	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// digest is a SHA-256 of a scope and an idempotency hash, cut to 16 bytes.
type digest [16]byte

func digestOf(s task.Scope, hash task.Hash) digest {
	sum := sha256.Sum256([]byte(string(s.Mode) + "\x00" + s.Account + "\x00" + string(hash[:])))
	return digest(sum[:len(digest{})])
}

func bytesOf(digests []digest) [][]byte {
	all := make([][]byte, len(digests))
	for i := range digests {
		all[i] = digests[i][:]
	}
	return all
}

// encode returns the task's record, and its input apart: a step needn't write it again.
func encode(t task.Task) (record, input []byte, err error) {
	input, t.Input = t.Input, nil
	w := jsonwrite.New(1024)
	t.Write(w)
	if record, err = w.Bytes(); err != nil {
		return nil, nil, fmt.Errorf("pgstore: encode a task: %w", err)
	}
	return record, input, nil
}

// lenient reads the output of encoding/json, in a third of its time.
var lenient = json.JoinOptions(
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsonv1.FormatDurationAsNano(true),
)

func decode(record, input []byte) (task.Task, error) {
	var t task.Task
	if err := json.Unmarshal(record, &t, lenient); err != nil {
		return t, fmt.Errorf("%w: a task's record can't be read: %w", errBroken, err)
	}
	t.Input = input
	return t, nil
}

// moment is a time of the database; minus infinity is the zero time.
type moment time.Time

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (m *moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	switch {
	case !v.Valid:
		return errors.New("pgstore: a time is missing")
	case v.InfinityModifier != pgtype.Finite:
		*m = moment{}
	default:
		*m = moment(v.Time.UTC())
	}
	return nil
}

// stamp is a time as a parameter; the zero time is minus infinity.
func stamp(t time.Time) pgtype.Timestamptz {
	if t.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: t, Valid: true}
}

func compare(a, b string) int { return cmp.Compare(a, b) }
