// Package tui is the dashboard: the directory of capabilities, a form made from a capability's
// schema, the live table of the account's tasks, and the detail of one of them with its pictures.
//
// There is one tea.Model, Model. Its parts are plain structs that draw themselves with Render and know no other part.
// Update does no input or output: it returns commands, and a command changes no state, it returns a message. All that
// is known of the service comes through the Service interface, and files are Files' business; all foreign text is
// drawn through line or text, which remove control characters.
//
// A task is read every two to five seconds while it isn't terminal, never more often; the shown one is followed by a
// stream, if the service has streams. A creation is sent again under the same Idempotency-Key until it has an answer.
package tui

import (
	"context"
	"errors"
	"image"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
)

// Service is the dashboard's use of the service. An error that is an answer, or a reason why no request was sent, is
// an *Error or a *fault.Error; any other means that no answer came. It is called from several goroutines at once.
type Service interface {
	Capabilities(ctx context.Context) ([]api.Capability, error)
	// Create submits under the key and lets the service hold its answer for wait, whole seconds.
	Create(ctx context.Context, req api.CreateRequest, key string, wait time.Duration) (api.Task, error)
	// Get reads a task once; with an ETag and a wait the service holds its answer until it differs.
	Get(ctx context.Context, id, etag string, wait time.Duration) (Reading, error)
	// Follow sends the events of a task until it ends, the stream breaks off or ctx ends; then the channel is closed.
	// Without streams that is at once.
	Follow(ctx context.Context, id string) <-chan Event
	// List returns the page of a query that stands at the cursor of an earlier one, "" for the first. It holds
	// at most limit tasks.
	List(ctx context.Context, q Query, cursor string, limit int) (Page, error)
	Cancel(ctx context.Context, id string) (api.Task, error)
}

// Files is the dashboard's use of results on this machine. It is called from several goroutines at once.
type Files interface {
	// Fetch writes a file of a result to w.
	Fetch(ctx context.Context, a api.Artifact, w io.Writer) error
	// Save writes a result to a folder, a file or NAME.* and returns the files, which all stand in the folder that
	// was named. Without replace it writes no file and returns an *ExistError if one is there already.
	Save(ctx context.Context, t api.Task, to string, replace bool) ([]string, error)
	// Complete returns the paths that begin so and are there, written as they were begun; folders end with a slash.
	Complete(begun string) []string
	// Open saves a result in a folder of its own and shows it with the system's program; without a desktop it doesn't
	// and opened is false.
	Open(ctx context.Context, t api.Task) (files []string, opened bool, err error)
}

// ExistError names the files that Save didn't replace, at least one.
type ExistError struct{ Names []string }

// Error says so of the first.
func (e *ExistError) Error() string { return e.Names[0] + " is there already" }

// Historian is a Service that also knows when a task was in which state.
type Historian interface {
	Timeline(ctx context.Context, id string) ([]api.Move, error)
}

// Event is one event of a stream: the task as it is now, or else the next piece of its text.
type Event struct {
	Task api.Task // zero if Text is a piece
	Text string
}

// Reading is the answer to one Get.
type Reading struct {
	Task        api.Task // zero where NotModified
	NotModified bool
	ETag        string
	RetryAfter  time.Duration // advised pause before the next one; 0: no advice
}

// Error is an answer of the service that isn't the asked-for one, with the id that support asks for, or why the
// service wasn't asked.
type Error struct {
	Err       error  // an answer unwraps to its *fault.Error
	RequestID string // "" without an answer, or without an id in it
}

// Error returns the text of Err.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Config configures the dashboard.
type Config struct {
	Service  Service            // required
	Files    Files              // required
	NewKey   func() string      // required; makes an Idempotency-Key
	Copy     func(string)       // required; puts a text without control characters into the terminal's clipboard
	Hint     func(error) string // required; returns the remedy for an error, "" without one
	Where    string             // the service, shown in the header, its end only if there is room
	Style    Style              // the zero value draws without colours and attributes
	Zone     *time.Location     // of the times shown; nil: the local one
	Ended    func(string)       // called when a task ends that was seen open, with a few words; nil: no notices
	Pictures bool               // the terminal shows pictures as they are, after the end
}

// Left is the state after the end.
type Left struct {
	Open     int           // tasks seen that have not ended
	Pictures []image.Image // to be shown now, mostly empty
}

// Run shows the dashboard on a terminal until the person leaves it. It returns ctx's error when ctx
// ends first.
func Run(ctx context.Context, c Config, in io.Reader, out io.Writer) (Left, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the requests in flight
	m := New(ctx, c)
	p := tea.NewProgram(
		m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen(),
		tea.WithoutSignalHandler(), // signals end ctx
	)
	_, err := p.Run()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if errors.Is(err, tea.ErrInterrupted) {
		err = nil
	}
	return Left{m.tasks.open(), m.pictures}, err
}
