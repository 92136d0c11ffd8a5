package boltstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// A record is a format byte, the state's number, the last change in nanoseconds since 1970, the CRC-32C of
// all but itself, and the task in JSON. Sweeps and listings read the head alone. A row of `open` is a format
// byte, the CRC-32C of all but itself, and JSON. Older versions wrote both without a sum, as formatJSON.
const (
	formatJSON = 1
	formatSum  = 2
	sumSize    = 4
	headSize   = 1 + 1 + 8 // without the sum
)

// sumAt puts the sum of a value into its place, which begins at the given byte.
func sumAt(value []byte, at int) {
	binary.BigEndian.PutUint32(value[at:], summed(value[:at], value[at+sumSize:]))
}

// sumHolds reports whether the sum that begins at the given byte is right.
func sumHolds(value []byte, at int) bool {
	return len(value) >= at+sumSize && binary.BigEndian.Uint32(value[at:]) == summed(value[:at], value[at+sumSize:])
}

// lenient reads the output of encoding/json, in a third of its time.
var lenient = json.JoinOptions(
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsonv1.FormatDurationAsNano(true),
)

var (
	errRecord = errors.New("boltstore: not a record of this version")
	errOther  = fmt.Errorf("%w: it is another task's", errRecord)
	errSum    = fmt.Errorf("%w: its sum is wrong", errRecord)
)

// encodeTask appends the task's record to b.
func encodeTask(b []byte, t *task.Task) ([]byte, error) {
	w := jsonwrite.Append(b)
	w.Raw(formatSum, byte(slices.Index(task.States(), t.State)))
	w.Raw(bigEndian(uint64(t.UpdatedAt.UnixNano()))...)
	w.Raw(0, 0, 0, 0)
	t.Write(w)
	record, err := w.Bytes()
	if err != nil {
		return b, fmt.Errorf("boltstore: encode a task: %w", err)
	}
	sumAt(record[len(b):], headSize)
	return record, nil
}

// decodeTask reads a record; the task shares no memory with it.
func decodeTask(record []byte) (task.Task, error) {
	if _, _, err := recordHead(record); err != nil {
		return task.Task{}, err
	}
	body := record[headSize:]
	if record[0] == formatSum {
		body = body[sumSize:]
	}
	var t task.Task
	if err := json.Unmarshal(body, &t, lenient); err != nil {
		return task.Task{}, fmt.Errorf("%w: %w", errRecord, err)
	}
	return t, nil
}

// recordHead returns the state and the time of the last change without decoding the rest.
func recordHead(record []byte) (task.State, time.Time, error) {
	states := task.States()
	if len(record) < headSize || int(record[1]) >= len(states) {
		return "", time.Time{}, errRecord
	}
	switch {
	case record[0] == formatJSON:
	case record[0] != formatSum:
		return "", time.Time{}, errRecord
	case !sumHolds(record, headSize):
		return "", time.Time{}, errSum
	}
	return states[record[1]], time.Unix(0, int64(binary.BigEndian.Uint64(record[2:]))).UTC(), nil
}

// openRow is the row in `open` of a task that isn't terminal: enough to queue it at a start without reading the task.
type openRow struct {
	Account    string        `json:"a"`
	Mode       task.Mode     `json:"m"`
	Capability string        `json:"c"`
	State      task.State    `json:"s"`
	Deadline   time.Time     `json:"d"`
	Span       time.Duration `json:"p"` // from the acceptance to the deadline
	Attempt    bool          `json:"o,omitempty"`
	Cancel     bool          `json:"x,omitempty"`
	Caps       []string      `json:"k,omitempty"`
}

// encodeOpen appends the row of a task that isn't terminal to b.
func encodeOpen(b []byte, t *task.Task) ([]byte, error) {
	row := openRow{
		Account: t.Scope.Account, Mode: t.Scope.Mode, Capability: t.Capability, State: t.State,
		Deadline: t.DeadlineAt, Span: t.Span(), Cancel: t.CancelRequested, Caps: make([]string, 0, 4),
	}
	if a := t.OpenAttempt(); a != nil {
		row.Attempt = true
		for _, c := range a.Caps {
			row.Caps = append(row.Caps, c.Key)
		}
	}
	return row.encode(b)
}

func (r *openRow) encode(b []byte) ([]byte, error) {
	w := jsonwrite.Append(b)
	w.Raw(formatSum, 0, 0, 0, 0)
	r.write(w)
	row, err := w.Bytes()
	if err != nil {
		return b, err
	}
	sumAt(row[len(b):], 1)
	return row, nil
}

// write appends the row as encoding/json writes it.
func (r *openRow) write(w *jsonwrite.Writer) {
	w.Begin('{')
	w.Name("a")
	w.String(r.Account)
	w.Name("m")
	w.String(string(r.Mode))
	w.Name("c")
	w.String(r.Capability)
	w.Name("s")
	w.String(string(r.State))
	w.Name("d")
	w.Time(r.Deadline)
	w.Name("p")
	w.Int(int64(r.Span))
	if r.Attempt {
		w.Name("o")
		w.Bool(true)
	}
	if r.Cancel {
		w.Name("x")
		w.Bool(true)
	}
	if len(r.Caps) > 0 {
		w.Name("k")
		w.Begin('[')
		for _, key := range r.Caps {
			w.String(key)
		}
		w.End(']')
	}
	w.End('}')
}

func decodeOpen(b []byte) (openRow, error) {
	var row openRow
	switch {
	case len(b) == 0, b[0] != formatJSON && b[0] != formatSum:
		return row, errRecord
	case b[0] == formatSum && !sumHolds(b, 1):
		return row, errSum
	case b[0] == formatSum:
		b = b[sumSize:]
	}
	if err := json.Unmarshal(b[1:], &row, lenient); err != nil {
		return row, fmt.Errorf("%w: %w", errRecord, err)
	}
	return row, nil
}
