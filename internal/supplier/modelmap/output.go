package modelmap

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// ErrFlagged is the error of an output that the model's own review has blanked.
var ErrFlagged = errors.New("the model's review refused the content")

var errOutput = errors.New("the output isn't where the model's map says")

const (
	maxFiles   = 16
	maxSeconds = 1e6
	maxSide    = 1 << 20 // pixels
)

// output is the places of a result, by pointers; "" is the whole output.
type output struct {
	Files *string `json:"files"` // an address, an object with its "url", or a list of these
	Text  *string `json:"text"`  // a text, or its pieces
	// Segments and Words are lists of the pieces of a transcript.
	Segments *pieces `json:"segments"`
	Words    *pieces `json:"words"`

	Flagged *string `json:"flagged"` // true, or a list with a true: refused by review
	Seconds *string `json:"seconds"` // how long the recording is that was worked on
}

func (o output) check(c catalog.Name) error {
	wantsText := strings.HasPrefix(string(c), "text.") || c == "audio.transcribe"
	switch {
	case wantsText && (o.Text == nil || o.Files != nil):
		return errors.New("output must say where the text is")
	case !wantsText && (o.Files == nil || o.Text != nil):
		return errors.New("output must say where the files are")
	case (o.Segments != nil || o.Words != nil) && c != catalog.AudioTranscribe:
		return errors.New("output has segments or words, which only transcripts have")
	}
	pointers := []*string{o.Files, o.Text, o.Flagged, o.Seconds}
	for _, p := range []*pieces{o.Segments, o.Words} {
		if p != nil {
			pointers = append(pointers, &p.At, &p.Start, &p.End, &p.Text, &p.Speaker)
		}
	}
	for _, p := range pointers {
		if p != nil && *p != "" && !strings.HasPrefix(*p, "/") {
			return fmt.Errorf("output %s: must be a pointer such as /name", *p)
		}
	}
	return nil
}

// Outcome is the end of a job whose model gave the output: a result, or the work's definite failure. added is the
// request's Added.
func (m *Maps) Outcome(c catalog.Name, name string, raw []byte, added int64) (supplier.Outcome, error) {
	result, err := m.Result(c, name, raw)
	switch {
	case err == nil:
		if added > 0 {
			result.Usage.Milliseconds = added
		}
		return supplier.Outcome{Result: &result}, nil
	case errors.Is(err, ErrFlagged):
		return supplier.Outcome{}, upstream.Failure(supplier.Failed, fault.ContentPolicyViolation, err)
	default:
		return supplier.Outcome{}, upstream.Failure(supplier.Failed, fault.ProviderUnavailable, err)
	}
}

// Added returns by how many milliseconds a request extends a video, which is what its suppliers charge: the result is
// longer than that. It is 0 for other requests.
func Added(r supplier.Request) int64 {
	var p struct {
		Seconds float64 `json:"duration_seconds"`
	}
	if catalog.Name(r.Capability) != catalog.VideoExtend || upstream.Decode(r.Parameters, &p) != nil || p.Seconds > maxSeconds {
		return 0
	}
	return int64(math.Round(p.Seconds * 1000))
}

// Result turns a model's output into a result, with the usage that shows in it. Its error is
// ErrFlagged, or says that the output is unusable.
func (m *Maps) Result(c catalog.Name, name string, raw []byte) (supplier.Result, error) {
	one := m.models[key{c, name}]
	var body any
	if one == nil || upstream.Decode(raw, &body) != nil {
		return supplier.Result{}, errOutput
	}
	o := one.Output
	if flagged(at(body, o.Flagged)) {
		return supplier.Result{}, ErrFlagged
	}
	var result supplier.Result
	if o.Text != nil {
		text, ok := joinedText(at(body, o.Text))
		if !ok {
			return supplier.Result{}, errOutput
		}
		result.Text, result.FinishReason = &text, "stop"
		result.Segments, result.Words = o.Segments.in(body), o.Words.in(body)
		if s, ok := at(body, o.Seconds).(float64); ok && s >= 0 && s <= maxSeconds {
			result.Usage.Milliseconds = int64(math.Round(s * 1000))
		}
		return result, nil
	}
	files, ok := filesOf(at(body, o.Files))
	if !ok || len(files) == 0 {
		return supplier.Result{}, errOutput
	}
	result.Files = files
	if strings.HasPrefix(string(c), "image.") {
		result.Usage.Images = int64(len(files))
	}
	return result, nil
}

// at returns the value at a pointer; nil without one.
func at(v any, pointer *string) any {
	if pointer == nil {
		return nil
	}
	if *pointer == "" {
		return v
	}
	for step := range strings.SplitSeq((*pointer)[1:], "/") {
		switch here := v.(type) {
		case map[string]any:
			v = here[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(here) {
				return nil
			}
			v = here[i]
		default:
			return nil
		}
	}
	return v
}

func flagged(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case []any:
		for _, e := range v {
			if e == true {
				return true
			}
		}
	}
	return false
}

func joinedText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		var b strings.Builder
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return "", false
			}
			b.WriteString(s)
		}
		return b.String(), true
	default:
		return "", false
	}
}

func filesOf(v any) ([]supplier.File, bool) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if len(list) > maxFiles {
		return nil, false
	}
	var files []supplier.File
	for _, e := range list {
		f, ok := fileOf(e)
		if !ok {
			return nil, false
		}
		files = append(files, f)
	}
	return files, true
}

func fileOf(v any) (supplier.File, bool) {
	switch v := v.(type) {
	case string:
		return upstream.File(v)
	case map[string]any:
		address, _ := v["url"].(string)
		f, ok := upstream.File(address)
		if kind, is := v["content_type"].(string); is && f.ContentType == "" {
			f.ContentType = kind
		}
		f.Width, f.Height = side(v["width"]), side(v["height"])
		if s, is := v["duration"].(float64); is && s > 0 && s <= maxSeconds {
			f.Duration = s
		}
		return f, ok
	default:
		return supplier.File{}, false
	}
}

func side(v any) int {
	if n, ok := v.(float64); ok && n >= 1 && n <= maxSide {
		return int(n)
	}
	return 0
}
