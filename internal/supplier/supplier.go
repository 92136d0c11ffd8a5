// Package supplier is the contract between the gateway and those who do the work.
//
// An adapter turns one neutral request into one request of its supplier's wire format, sends it once, and turns the
// answer back. It never retries, never fails over, never follows a redirect of a submission and keeps no state:
// retry, failover and money belong to the layers above. An adapter's abilities beyond Submit (poll, cancel, find,
// stream) are optional interfaces, which callers discover by type assertion.
//
// Invariants: Submit sends at most one request that could cost money; every error is an *Error with a Sent verdict; a
// Fault's message never names the supplier.
package supplier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"unitask/internal/catalog"
)

// Adapter speaks one supplier's wire format. Implementations are safe for concurrent use.
type Adapter interface {
	// Submit sends the request once. It returns a Result or a Job, or an *Error.
	Submit(ctx context.Context, r Request) (Outcome, error)
}

// Poller is an Adapter whose Submit may answer with a Job.
type Poller interface {
	// Poll asks after a job. An Outcome whose Job is set means that it still runs.
	Poll(ctx context.Context, j Job) (Outcome, error)
}

// Canceler is an Adapter that can stop a job at the supplier. Canceling an ended job is no error. Poll returns the
// outcome of a stopped job.
type Canceler interface {
	Cancel(ctx context.Context, j Job) error
}

// Finder is an Adapter that can look up a submission whose outcome is unknown.
type Finder interface {
	// Find returns the job that submitKey began; found is false when the supplier doesn't know the key.
	Find(ctx context.Context, submitKey string) (job Job, found bool, err error)
}

// Streamer is an Adapter that can deliver an answer piece by piece. delta is called in order, from one
// goroutine, before Stream returns.
type Streamer interface {
	Stream(ctx context.Context, r Request, delta func(Delta)) (Outcome, error)
}

// KeyHonorer is an Adapter whose supplier treats a second Submit with the same SubmitKey as the
// first one: such a submission of unknown outcome may be sent again.
type KeyHonorer interface {
	HonorsSubmitKey() bool
}

// Prober is an Adapter that can say whether the supplier is reachable and takes the key, without cost. keyed is
// false for one without a key. Its error is errors.ErrUnsupported if its configuration has no request for that.
type Prober interface {
	Probe(ctx context.Context) (keyed bool, err error)
}

// Reacher is an Adapter without a free request, which can say whether the supplier's address answers: it sends no key.
type Reacher interface {
	Reach(ctx context.Context) error
}

// Reach asks the supplier by what the adapter has for it, without cost. keyed says that the key was sent. The error is
// errors.ErrUnsupported if the adapter has no way to ask, else an *Error.
func Reach(ctx context.Context, a Adapter) (keyed bool, err error) {
	if p, ok := a.(Prober); ok {
		if keyed, err := p.Probe(ctx); !errors.Is(err, errors.ErrUnsupported) {
			return keyed, err
		}
	}
	if r, ok := a.(Reacher); ok {
		return false, r.Reach(ctx)
	}
	return false, errors.ErrUnsupported
}

// Moderator is an Adapter whose supplier can judge texts. It doesn't keep them, so that asking again only costs
// another question.
type Moderator interface {
	// Moderate asks about the texts, once. It returns one Judgement for each, in order, or an *Error.
	Moderate(ctx context.Context, model string, texts []string) ([]Judgement, error)
}

// Refuser is an Adapter whose configuration excludes some of its kind's abilities.
type Refuser interface {
	// Refuses says why it can't honour the request ("" when it can), as Kind.Refuses does.
	Refuses(r Request) string
}

// Modeler is an Adapter that serves only the models whose input its configuration describes.
type Modeler interface {
	// Knows reports whether the model is described for a capability, which is the base of a tier.
	Knows(c catalog.Name, model string) bool
}

// Templater is an Adapter whose requests to some models hold more text than the caller's.
type Templater interface {
	// Template returns how many bytes of text are added to a request, at most; 0 for none.
	Template(c catalog.Name, model string) int
}

// Request is one neutral request, already validated against the catalog.
type Request struct {
	Capability string          // "text.chat"; of a tier, its base
	Model      string          // the supplier's own name of the model, from the route
	Input      json.RawMessage // as catalog validated it, with its defaults untouched
	Parameters json.RawMessage // never empty; "{}" without parameters
	// OutputSchema is the capability's, which the result will be held to: of use to those that can ask a model for it.
	OutputSchema json.RawMessage
	Media        map[string]Media
	// Base64 are long strings of Input, which its readers pass over (jsonread's Reader.Passing); not all that there are.
	Base64 [][]byte
	// States are those that this adapter gave with its earlier answers, by the number of a message of the conversation.
	States    map[int]json.RawMessage
	SubmitKey string // stable for one attempt of one task: "task_…/1"
	// Authorization is the caller's declaration about a person shown, which Input no longer holds; nil without one.
	// It concerns gateways alone.
	Authorization *Authorization
}

// NewRequest returns a request of the capability that is still without a model and media. The parameter encoding isn't
// in it: the gateway encodes vectors itself.
func NewRequest(c catalog.Capability, input, parameters json.RawMessage) Request {
	if c.Base() == catalog.TextEmbed {
		parameters = unencoded(parameters)
	}
	return Request{Capability: string(c.Base()), Input: input, Parameters: parameters, OutputSchema: c.OutputSchema}
}

// unencoded returns parameters without the encoding.
func unencoded(parameters json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if !bytes.Contains(parameters, []byte(catalog.Encoding)) || json.Unmarshal(parameters, &members) != nil {
		return parameters
	}
	delete(members, catalog.Encoding)
	return encoded(members)
}

// Authorization is a caller's word about a person, without the evidence, which was judged already.
type Authorization struct {
	Person    string // "none" or "authorized"
	Statement string
}

// Media is one media value of the input, fetched and checked. Keys of Request.Media are JSON
// pointers into Input: "/image", "/images/0".
type Media struct {
	ContentType string // sniffed, not claimed
	Bytes       int64
	Open        func() (io.ReadCloser, error)
	Base64      []byte // the same bytes as a request has them, in the standard alphabet with padding; nil: not at hand
}

// Outcome is either a Result (the work is done) or a Job (it goes on at the supplier).
type Outcome struct {
	Result *Result
	Job    *Job
}

// Job refers to work going on at the supplier. It is stored, so it must survive a restart: ID and
// State are all that Poll, Cancel and a later fetch of the files may need.
type Job struct {
	ID        string          `json:"id"`
	Model     string          `json:"model,omitempty"`
	State     json.RawMessage `json:"state,omitempty"` // opaque to all but the adapter; no secrets
	Progress  *float64        `json:"-"`               // 0 to 1, nil if unknown
	PollAfter time.Duration   `json:"-"`               // the supplier's advice; 0: the caller's choice
}

// Result is finished work in neutral form. Members that don't apply are zero.
type Result struct {
	Text         *string
	FinishReason string // "stop", "length", "content_filter" or FinishToolCalls; only with Text
	ToolCalls    []ToolCall
	Reasoning    string // the model's thoughts, as far as the supplier tells them
	Citations    []Citation
	// State is what the adapter needs of this answer when the conversation goes on (see Request.States); nil for nothing.
	State      json.RawMessage
	Segments   []Segment
	Words      []Segment // beside Segments
	Embeddings [][]float32
	Files      []File // images, videos or one audio, in the caller's order
	// Data is the whole output as JSON, in the place of Text, Segments, Words and Embeddings; the i-th of Files stands in it as
	// {"artifact":i}. nil: the output is made of the other members.
	Data    json.RawMessage
	Usage   Usage
	Charged *int64 // the supplier's stated charge in nano-USD, nil if it doesn't say
}

// FinishToolCalls is the finish reason of a text whose model wants to call tools. If the request offers none, the result
// isn't the requested one, whatever text it holds.
const FinishToolCalls = "tool_calls"

// ToolCall is a model's call of a tool.
type ToolCall struct {
	Name      string
	Arguments string // as the model wrote them: JSON, if it made no mistake
}

// Citation is a page that an answer rests on.
type Citation struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"` // the words that it is cited for
}

// Segment is one timed piece of a transcript.
type Segment struct {
	Start   float64 `json:"start"` // seconds
	End     float64 `json:"end"`   // seconds
	Text    string  `json:"text"`
	Speaker string  `json:"speaker,omitempty"` // the same word for the same voice; "" if unknown
}

// File is one result file: its bytes, the address to fetch them from, or, if fetching takes the supplier's key, a
// function that opens them. One of Data, URL and Open is set.
type File struct {
	ContentType string // the supplier's claim; the artifact store sniffs
	Data        []byte
	URL         string
	Open        func(ctx context.Context) (io.ReadCloser, error)
	Width       int     // pixels, 0 if unknown
	Height      int     // pixels, 0 if unknown
	Duration    float64 // seconds, 0 if unknown
}

// Usage is measured work as the supplier reports it; members that don't apply are 0.
type Usage struct {
	InputTokens  int64
	OutputTokens int64
	Images       int64
	Milliseconds int64 // of video or audio
	Characters   int64
	Pages        int64 // of documents
	Requests     int64
	Searches     int64

	// Parts of InputTokens. A token is in one of them at most.
	CachedInputTokens int64 // read from a cache
	CacheWriteTokens  int64
	ImageInputTokens  int64
	AudioInputTokens  int64

	// Parts of OutputTokens. A token is in one of them at most.
	ReasoningTokens   int64
	ImageOutputTokens int64
	AudioOutputTokens int64
}

// Judgement is a Moderator's answer about one text.
type Judgement struct {
	Flagged    bool
	Categories []string // the supplier's words for why, sorted; for the operator alone
}

// Delta is the next piece of a streamed answer: of its thoughts, its text and its calls, mostly of one of them.
type Delta struct {
	Reasoning string
	Text      string
	Calls     []CallPiece
}

// Size returns how many bytes of words a piece has, 0 if it says nothing.
func (d Delta) Size() int {
	n := len(d.Reasoning) + len(d.Text)
	for _, c := range d.Calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return n
}

// Piece returns a whole answer as one piece.
func (r Result) Piece() Delta {
	piece := Delta{Reasoning: r.Reasoning}
	if r.Text != nil {
		piece.Text = *r.Text
	}
	for i, c := range r.ToolCalls {
		piece.Calls = append(piece.Calls, CallPiece{Index: i, Name: c.Name, Arguments: c.Arguments})
	}
	return piece
}

// Told is the pieces of a streamed answer put together.
type Told struct {
	Reasoning, Text strings.Builder
	calls           []toldCall
}

type toldCall struct {
	name      string
	arguments []byte
}

// Add adds a piece. The indexes of calls have no gap.
func (t *Told) Add(d Delta) {
	t.Reasoning.WriteString(d.Reasoning)
	t.Text.WriteString(d.Text)
	for _, c := range d.Calls {
		if c.Index == len(t.calls) {
			t.calls = append(t.calls, toldCall{name: c.Name})
		}
		t.calls[c.Index].arguments = append(t.calls[c.Index].arguments, c.Arguments...)
	}
}

// Calls returns the calls so far.
func (t *Told) Calls() []ToolCall {
	var all []ToolCall
	for _, c := range t.calls {
		all = append(all, ToolCall{Name: c.name, Arguments: string(c.arguments)})
	}
	return all
}

// CallPiece is a piece of the arguments of a ToolCall, or its beginning, which has none.
type CallPiece struct {
	Index     int    // of the call in Result.ToolCalls
	Name      string // of the tool, in each piece
	Arguments string
}

// Config configures an adapter; each kind reads its own members.
type Config struct {
	Name           string // the supplier's name in the configuration
	BaseURL        string
	APIKey         KeyFunc       // nil if the supplier needs no key
	Timeout        time.Duration // of one HTTP exchange, or of each pause of a stream; 0: the adapter's default
	MaxTokensField string        // "max_tokens" or "max_completion_tokens"; "": the adapter's default
	Models         []string      // files of the models' maps, for kinds whose adapters are Modelers
	Standard       bool          // send requests by net/http's Transport, HTTP/2 included
	ProxyPassword  KeyFunc       // of the user that Options' proxy names; nil: no password
	Options        map[string]string
}

// KeyFunc returns the supplier's key at the moment of use, so that a rotated file or keyring entry
// is picked up; the value must not be kept.
type KeyFunc func() (string, error)

// Kind is one wire format: its name in the configuration and its constructor.
type Kind struct {
	Name         string
	Capabilities []string // those the kind can serve at all
	Maps         bool     // its adapters are Modelers and serve whatever their maps describe
	Moderates    bool     // its adapters are Moderators
	Chats        bool     // its adapters chat with an output schema, by which maps have them do other capabilities
	AnyOutput    bool     // its adapters can fill every output schema, by Result.Data
	New          func(Config) (Adapter, error)
	// Refuses says why this kind can't honour the request ("" when it can): a parameter that would
	// have to be dropped excludes the route. nil: it honours every valid request.
	Refuses func(r Request) string
}

// Serves reports whether the kind can serve the capability, the base of a tier, at all.
func (k Kind) Serves(c catalog.Name) bool {
	for _, name := range k.Capabilities {
		if name == string(c) {
			return true
		}
	}
	return false
}

// Refuses says why the kind, or the adapter made of it, can't honour the request; "" when both can.
func Refuses(k Kind, a Adapter, r Request) string {
	if k.Refuses != nil {
		if why := k.Refuses(r); why != "" {
			return why
		}
	}
	if refuser, ok := a.(Refuser); ok {
		return refuser.Refuses(r)
	}
	return ""
}
