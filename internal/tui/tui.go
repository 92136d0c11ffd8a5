// Package tui is the dashboard: the directory of capabilities, a form made from a capability's
// schema, the live table of the account's tasks, the detail of one of them with its pictures, and conversations.
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
	"unitask/internal/client"
)

// Service is the dashboard's use of the service, as *submit.Service has it. A *client.UnreachableError means that no
// answer came; any other error is an answer, or a reason why no request was sent. It is called from several goroutines
// at once.
type Service interface {
	Capabilities(ctx context.Context) ([]api.Capability, error)
	// Submit creates a task under the key and lets the service hold its answer for wait, whole seconds.
	Submit(ctx context.Context, req api.CreateRequest, key string, wait time.Duration) (api.Task, error)
	// Get reads a task once; with an ETag and a wait the service holds its answer until it differs.
	Get(ctx context.Context, id string, o client.GetOptions) (client.Reading, error)
	// Hear tells the events of a task until it ends, the stream breaks off or ctx ends.
	Hear(ctx context.Context, id string, onTask func(api.Task), onText func(string)) error
	List(ctx context.Context, o client.ListOptions) (api.TaskList, error)
	Cancel(ctx context.Context, id string) (api.Task, error)
	// Timeline returns when the task was in which state.
	Timeline(ctx context.Context, id string) ([]api.Move, error)
}

// Files is the dashboard's use of results on this machine. It is called from several goroutines at once.
type Files interface {
	// Fetch writes a file of a result to w.
	Fetch(ctx context.Context, a api.Artifact, w io.Writer) error
	// Save writes a result to a folder, a file or NAME.* and returns the files, which all stand in the folder that
	// was named. Without replace it writes no file and returns a *save.ExistError if one is there already.
	Save(ctx context.Context, t api.Task, to string, replace bool) ([]string, error)
	// Complete returns the paths that begin so and are there, written as they were typed; folders end with a slash.
	Complete(prefix string) []string
	// Open saves a result in a folder of its own and shows it with the system's program; without a desktop it doesn't
	// and opened is false.
	Open(ctx context.Context, t api.Task) (files []string, opened bool, err error)
}

// Reached is a service that the dashboard uses, and all that belongs to it.
type Reached struct {
	Service Service // required
	Files   Files   // required
	Talks   Talks   // nil: no conversations
	Where   string  // the service, shown in the header, its end only if there is room
	Profile string  // its name, "" without one
}

// Config configures the dashboard.
type Config struct {
	Reached

	Profiles Profiles           // nil: there is one service alone
	NewKey   func() string      // required; makes an Idempotency-Key
	Copy     func(string)       // required; puts a text without control characters into the terminal's clipboard
	Hint     func(error) string // required; returns the remedy for an error, "" without one
	Style    Style              // the zero value draws without colours and attributes
	Zone     *time.Location     // of the times shown; nil: the local one
	Ended    func(string)       // called when a task ends that was seen open, with a few words, also of several at once; nil: no notices
	// Frame returns the first picture of a film that was fetched, as a file of a picture; nil: films have no pictures.
	Frame    func(ctx context.Context, film []byte) ([]byte, error)
	Mouse    bool // the terminal sends clicks and the wheel, and selects text with shift alone
	Pictures bool // the terminal shows pictures as they are, after the end
}

// Left is the state after the end.
type Left struct {
	Open     int           // tasks seen that have not ended
	Profile  string        // of the service that was shown last
	Pictures []image.Image // to be shown now, mostly empty
}

// Run shows the dashboard on a terminal until the person leaves it. It returns ctx's error when ctx
// ends first.
func Run(ctx context.Context, c Config, in io.Reader, out io.Writer) (Left, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the requests in flight
	m := New(ctx, c)
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen(),
		tea.WithoutSignalHandler(), // signals end ctx
	}
	if c.Mouse {
		options = append(options, tea.WithMouseCellMotion())
	}
	p := tea.NewProgram(m, options...)
	_, err := p.Run()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if errors.Is(err, tea.ErrInterrupted) {
		err = nil
	}
	return Left{m.tasks.open(), m.config.Profile, m.pictures}, err
}
