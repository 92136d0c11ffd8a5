// Package artifact keeps the bytes of results and of large inputs, signs the addresses of results,
// and fetches foreign addresses without being turned against the network it stands in.
//
// A Store keeps bytes under an id that its caller chose: results as "art_…", private inputs as "in_…". An object that
// Put has acknowledged survives a power cut, never changes, and has a content type from a closed list that was found
// in the bytes themselves; markup and SVG are not on it. A Store knows its owner's account but checks no rights: who
// may read is decided above it, or by a Signer's signature. It doesn't know tasks.
//
// A Fetcher speaks to strangers. Whether an address is allowed is decided after DNS, at the moment
// of connecting, for each connection anew.
package artifact

import (
	"context"
	"errors"
	"io"
	"time"

	"unitask/internal/fault"
	"unitask/internal/task"
)

// Meta describes one kept object. It is written once and never changes.
type Meta struct {
	ID          string    `json:"id"`
	Owner       string    `json:"owner"`                // an account's id
	Capability  string    `json:"capability,omitempty"` // of the task that it is a result of, "" for an input and an upload
	Upload      bool      `json:"upload,omitempty"`     // a caller sent it ahead of the tasks that take it
	ContentType string    `json:"content_type"`
	Bytes       int64     `json:"bytes"`
	SHA256      string    `json:"sha256"`                     // hexadecimal, lower case
	Width       int       `json:"width,omitempty"`            // pixels, 0 if unknown
	Height      int       `json:"height,omitempty"`           // pixels, 0 if unknown
	Duration    float64   `json:"duration_seconds,omitempty"` // 0 if unknown
	CreatedAt   time.Time `json:"created_at"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"` // zero: never
}

// Expired reports whether the object's time is over.
func (m Meta) Expired(now time.Time) bool { return !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt) }

// PutRequest is one object to keep.
type PutRequest struct {
	ID    string // "art_…" or "in_…", as package task makes them
	Owner string // an account's id, required
	// Capability is that of the task whose result it is, "" for an input.
	Capability string
	Body       io.Reader
	// ContentType counts for an input alone, and only if it is one of the text types, which no bytes prove:
	// text/plain, text/markdown, text/vtt, application/x-subrip, application/json. A PDF is kept as an input too.
	ContentType string
	Kinds       []string      // "image", "video", "audio": allowed kinds; nil: any
	Limit       int64         // bytes, required; one more is an error
	TTL         time.Duration // 0: kept until it is deleted
	ExpiresAt   time.Time     // in milliseconds, instead of a TTL
	Source      Source        // who is to blame for bytes that can't be kept
	// Raw has an input kept whatever its bytes are, as application/octet-stream: a piece of an upload.
	Raw bool
	// Upload marks a caller's file under a result's id: it may be all that an input may be.
	Upload bool
	SHA256 string // hexadecimal; other bytes are ErrHash. "": any
}

// Store keeps objects. Implementations are safe for concurrent use. An id that isn't kept, or isn't
// a valid id, is NOT_FOUND to all reading methods.
type Store interface {
	// Put reads Body to its end and keeps it. Once it returns, the object survives a crash. The same id with the same
	// bytes again returns the first Meta; with other bytes it stores no bytes and returns the first Meta with
	// ErrExists. A full disk or an object store that doesn't answer is CAPACITY_EXHAUSTED, another error of the disk is
	// ErrDisk; a body that is empty, too long or of no allowed type is Source's fault.
	Put(ctx context.Context, r PutRequest) (Meta, error)
	// Open returns the object for reading at any offset. The caller closes it. When it is deleted meanwhile, reading
	// either goes on or ends with an error; bytes are never those of another object, and never fewer without an error.
	Open(ctx context.Context, id string) (Meta, io.ReadSeekCloser, error)
	// Stat returns the Meta alone.
	Stat(ctx context.Context, id string) (Meta, error)
	// Delete removes the object; one that isn't there is no error.
	Delete(ctx context.Context, id string) error
	// Sweep deletes at most limit objects that have expired at now, and the leftovers of crashes of a day ago. It
	// returns how many objects it deleted; fewer than limit means that it is done for now. It is called every minute
	// or so, and may leave objects that it doesn't know yet to a later call.
	Sweep(ctx context.Context, now time.Time, limit int) (int, error)
	// Room returns how many bytes can still be kept, as far as that is known.
	Room() (int64, error)
	// Close ends the store. Objects that are open stay readable.
	Close() error
}

// The errors of a Store that have a meaning to its callers.
var (
	// ErrExists is Put's refusal to change an object that is complete.
	ErrExists = errors.New("artifact: the id is taken by other bytes")
	// ErrHash is Put's refusal of bytes that aren't the announced ones.
	ErrHash = errors.New("artifact: the bytes have another SHA-256 than was announced")
	// ErrDamaged is an object that isn't as its Put left it.
	ErrDamaged = errors.New("damaged")
	// ErrDisk is a system call on a file, or a request to an object store, that failed; the same call may succeed later.
	ErrDisk = errors.New("artifact: the storage failed")
)

// Source says whose bytes or address something is, and so whose fault it is when it is bad.
// The zero Source is a supplier.
type Source struct {
	Field string // of a caller's request, such as "input.image"
}

// FromSupplier is the Source of a supplier's result: PROVIDER_UNAVAILABLE when it is bad.
func FromSupplier() Source { return Source{} }

// FromCaller is the Source of a caller's input: INVALID_REQUEST about the field when it is bad.
func FromCaller(field string) Source { return Source{Field: field} }

// bad returns the fault for a problem such as "is too large"; the cause, which may be nil, is for logs.
func (s Source) bad(problem string, cause error) *fault.Error {
	if s.Field == "" {
		return fault.Wrap(fault.ProviderUnavailable, errors.Join(errors.New("the result "+problem), cause),
			"the result could not be retrieved")
	}
	wrapped := fault.Wrap(fault.InvalidRequest, cause, s.Field+" "+problem)
	return wrapped.WithDetails(fault.Detail{Field: s.Field, Message: problem})
}

// TooLarge returns the fault for more bytes than the limit.
func (s Source) TooLarge(limit int64) *fault.Error {
	e := s.bad("is larger than "+Size(limit), nil)
	if e.Code == fault.InvalidRequest {
		return e.WithAspect(fault.AspectSize)
	}
	return e
}

// ValidID reports whether an object may have the id.
func ValidID(id string) bool {
	return task.ValidID(task.PrefixArtifact, id) || isInput(id)
}

func isInput(id string) bool { return task.ValidID(task.PrefixInput, id) }

// NotFound returns the fault of an id that isn't kept.
func NotFound() *fault.Error { return fault.New(fault.NotFound, "there is no such artifact") }
