// Package mcp serves a service's capabilities as tools of the Model Context Protocol: a Server to one program over
// stdin and stdout, an HTTP to callers of the service over its own listener.
//
// Each capability that the key may call is one tool: "image.generate" is image_generate, its schemas
// are the tool's, and arguments are checked here before anything is sent. A call submits a task and
// waits for it. Clients give a call up after a minute, so a task that takes longer is handed over by
// its id before that: task_get waits on, task_cancel stops it. A call that its client gives up leaves
// its task running.
//
// Only the protocol is written, and never the key. Errors are results of the tool with the next step, so that a model
// can correct itself. The package reads and writes no file: a Config's functions may.
package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// DefaultLimit is how long a call waits for its task: clients cut at 60 s, and the answer needs time.
const DefaultLimit = 50 * time.Second

// startTimeout bounds the first look at the directory: a client waits for the start.
const startTimeout = 5 * time.Second

// Config configures the served tools.
type Config struct {
	Client   *client.Client                                    // of the service; required
	Begin    BeginFunc                                         // nil: submissions are sent and recorded nowhere
	Version  string                                            // of this program
	Limit    time.Duration                                     // of a call's wait; 0: DefaultLimit
	Metadata task.Metadata                                     // of every task; no model sees it
	Save     func(context.Context, api.Task) ([]string, error) // keeps a result's files and returns their paths, in order; nil: files aren't kept
	Upload   UploadFunc                                        // nil: no tool sends local files
	Room     func(bytes int64) bool                            // reports whether an answer may carry a file of this size, else it is a link; nil: it may
	Hint     func(error) string                                // the next step after an error; nil: without
	Note     func(format string, args ...any)                  // for the person who reads the log; nil: silence

	// directoryFunc, if not nil, takes the place of a request for the directory.
	directoryFunc func() []api.Capability
	// once says that the server answers one request: it tells of no change later.
	once bool
	// shelf keeps the schemas between servers; nil: one of its own.
	shelf *shelf
}

// Server answers one client of the protocol. Its tools follow the directory: each listing reads it anew.
type Server struct {
	Config
	protocol *sdk.Server
	mu       sync.Mutex
	tools    map[string]*tool // by the tool's name
}

// New returns a server; Run starts it.
func New(c Config) *Server {
	if c.Limit <= 0 {
		c.Limit = DefaultLimit
	}
	if c.Hint == nil {
		c.Hint = func(error) string { return "" }
	}
	if c.Note == nil {
		c.Note = func(string, ...any) {}
	}
	if c.Begin == nil {
		c.Begin = c.unrecorded
	}
	if c.shelf == nil {
		c.shelf = &shelf{}
	}
	s := &Server{Config: c, tools: map[string]*tool{}}
	s.protocol = sdk.NewServer(
		&sdk.Implementation{Name: "unitask", Title: "unitask", Version: c.Version},
		&sdk.ServerOptions{Instructions: instructions + c.fileAdvice(), Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{ListChanged: !c.once}, Resources: &sdk.ResourceCapabilities{},
		}},
	)
	s.protocol.AddReceivingMiddleware(s.refreshing)
	s.addTaskTools()
	if c.Upload != nil {
		s.addUploadTool()
	}
	s.addResources()
	return s
}

const instructions = `Each tool but those of tasks and files is one AI capability: it submits a task, waits for it and answers its result.
A task that takes long is handed over by its id: call task_get until it has ended. Calls cost money; don't repeat one
whose task is still running. Media arguments take {"url"}, {"artifact"} with the id of an earlier result or an upload, or {"data","content_type"}.`

// fileAdvice says how a local file comes to the service.
func (c *Config) fileAdvice() string {
	if c.Upload != nil {
		return "\nA local file is sent by " + toolUpload + " first, which answers the id of its artifact."
	}
	return "\nA local file becomes an artifact outside of these tools: `unitask upload FILE` prints its id, and POST " + api.PathUploads + " begins an upload."
}

// Run answers on in and out until in ends or ctx does. A key that the service refuses is an error at
// once; a service that can't be reached is asked again at each listing.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	s.protocol.AddReceivingMiddleware(endingWith(ctx))
	err := s.protocol.Run(ctx, &sdk.IOTransport{Reader: in, Writer: keptOpen{out}})
	if ctx.Err() != nil || errors.Is(err, io.ErrClosedPipe) { // the client has ended us, or itself
		err = nil
	}
	return err
}

func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := s.refresh(ctx, "")
	switch {
	case err == nil:
		return nil
	case fault.CodeOf(err) == fault.Unauthenticated:
		return err
	}
	if _, away := errors.AsType[*client.UnreachableError](err); !away {
		return err
	}
	s.Note("%v; the tools are listed once it answers", err)
	return nil
}

// endingWith ends the calls under way when the program is told to stop; the protocol's library would
// wait for them.
func endingWith(life context.Context) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(life, cancel)()
			return next(ctx, method, req)
		}
	}
}

// keptOpen keeps the end of a session from closing stdout.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }
