package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"unitask/internal/disk"
)

// Submission is a request as it is sent, and the use of its result.
type Submission struct {
	Key     string // the Idempotency-Key
	BaseURL string
	Profile string // "" without one
	DataDir string // of the server on this machine, if it has no profile
	Mode    string // of the API key, "" if unknown
	Body    []byte // the request's JSON; empty for an entry that was read, Entry.Load makes it
	Files   []File // whose bytes stand in the body as base64
	Output  string // the result's destination, "" for a printed one
	JSON    bool   // the result is printed as JSON

	pieces []Piece
}

// File is a file whose bytes went into a request.
type File struct {
	Path  string // absolute
	Bytes []byte
}

// Entry is a submission in the journal, locked by this process until Close or Erase. It is used by
// one goroutine.
type Entry struct {
	Submission
	ID     string
	TaskID string // "" until the service has named it
	Failed bool   // the task ended in a failure that another try under the key may mend
	Age    time.Duration

	file *os.File
}

// Name returns the entry's name for a person: the task's id if known.
func (e *Entry) Name() string {
	if e.TaskID != "" {
		return e.TaskID
	}
	return e.ID
}

// Accepted notes the task that the service made; "" is ignored.
func (e *Entry) Accepted(taskID string) error {
	if taskID == "" || taskID == e.TaskID {
		return nil
	}
	e.TaskID = taskID
	return e.note()
}

// SetFailed notes whether the task has failed for now. The entry stays for another try.
func (e *Entry) SetFailed(failed bool) error {
	if failed == e.Failed {
		return nil
	}
	e.Failed = failed
	return e.note()
}

// note appends a fact. It isn't synced: a lost fact is asked of the service again.
func (e *Entry) note() error {
	encoded, err := line(note{TaskID: e.TaskID, Failed: e.Failed})
	if err != nil {
		return err
	}
	_, err = e.file.Write(append([]byte("\n"), encoded...)) // the line before may have no end
	return err
}

// Erase deletes the entry: its task has ended, or was never made.
func (e *Entry) Erase() error { return disk.RemoveLocked(e.file) }

// Close gives up the lock and keeps the entry for another process.
func (e *Entry) Close() error { return e.file.Close() }

// ChangedError reports a file that no longer has the sent bytes, so that the same request can't be made again.
type ChangedError struct {
	Path  string
	cause error // nil if the file can be read
}

// Error names the file.
func (e *ChangedError) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s was a part of the request and can't be read any more: %v", e.Path, e.cause)
	}
	return e.Path + " was a part of the request and has changed since"
}

// Unwrap returns why the file can't be read, or nil.
func (e *ChangedError) Unwrap() error { return e.cause }

// Load returns the request's JSON, byte for byte as it was started, or *ChangedError.
func (e *Entry) Load() ([]byte, error) {
	if e.Body != nil {
		return e.Body, nil
	}
	body, _, err := Join(e.pieces)
	if err != nil {
		return nil, err
	}
	e.Body = body
	return e.Body, nil
}

// read reads a whole entry.
func read(f *os.File) (*Entry, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxEntry {
		return nil, &DamagedError{errors.New("it is too large")}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxEntry))
	if err != nil {
		return nil, err
	}
	e, err := decode(raw)
	if err == nil {
		e.Age = time.Since(info.ModTime())
	}
	return e, err
}
