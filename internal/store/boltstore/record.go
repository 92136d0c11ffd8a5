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

// A record is a format byte, the state's number, the last change in nanoseconds since 1970 and the
// task in JSON. Sweeps and listings read the head alone.
const (
	formatJSON = 1
	headSize   = 1 + 1 + 8
)

// lenient reads what encoding/json wrote, in a third of its time.
var lenient = json.JoinOptions(
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsonv1.FormatDurationAsNano(true),
)

var errRecord = errors.New("boltstore: not a record of this version")

// encodeTask appends the task's record to b.
func encodeTask(b []byte, t *task.Task) ([]byte, error) {
	w := jsonwrite.Append(b)
	w.Raw(formatJSON, byte(slices.Index(task.States(), t.State)))
	w.Raw(bigEndian(uint64(t.UpdatedAt.UnixNano()))...)
	t.Write(w)
	record, err := w.Bytes()
	if err != nil {
		return b, fmt.Errorf("boltstore: encode a task: %w", err)
	}
	return record, nil
}

// decodeTask reads a record; the task shares no memory with it.
func decodeTask(record []byte) (task.Task, error) {
	if _, _, err := recordHead(record); err != nil {
		return task.Task{}, err
	}
	var t task.Task
	if err := json.Unmarshal(record[headSize:], &t, lenient); err != nil {
		return task.Task{}, fmt.Errorf("%w: %w", errRecord, err)
	}
	return t, nil
}

// recordHead returns the state and the time of the last change without decoding the rest.
func recordHead(record []byte) (task.State, time.Time, error) {
	states := task.States()
	if len(record) < headSize || record[0] != formatJSON || int(record[1]) >= len(states) {
		return "", time.Time{}, errRecord
	}
	return states[record[1]], time.Unix(0, int64(binary.BigEndian.Uint64(record[2:]))).UTC(), nil
}

// openRow is what `open` keeps of a task that isn't terminal: enough to queue it at a start without
// reading the task.
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
	w.Raw(formatJSON)
	r.write(w)
	return w.Bytes()
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
	if len(b) == 0 || b[0] != formatJSON {
		return row, errRecord
	}
	if err := json.Unmarshal(b[1:], &row, lenient); err != nil {
		return row, fmt.Errorf("%w: %w", errRecord, err)
	}
	return row, nil
}
