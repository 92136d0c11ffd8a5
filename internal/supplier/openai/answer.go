package openai

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/wire"
)

var (
	errNoJSON = errors.New("the answer is no JSON of the expected form")
	errNoText = errors.New("the answer holds no text")
	errCut    = errors.New("the supplier broke its work off")
	errReview = errors.New("the supplier's review refused the content")
)

type chatAnswer struct {
	wire.Envelope
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type choice struct {
	Message      piece           `json:"message"`
	Delta        piece           `json:"delta"` // in a stream
	FinishReason *string         `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // some aggregators report here that work broke off
}

type piece struct {
	Content text    `json:"content"`
	Refusal *string `json:"refusal"`
}

// text is a message's content: a string, a list of parts, or null.
type text struct {
	Value   string
	Present bool
}

// UnmarshalJSONFrom takes all three forms; parts that aren't text are left out.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '"':
		value, err := d.ReadToken()
		if err != nil {
			return err
		}
		*t = text{Value: value.String(), Present: true}
		return nil
	}
	b, err := d.ReadValue()
	if err != nil {
		return err
	}
	var parts []struct {
		Text *string `json:"text"`
	}
	if wire.Decode(b, &parts) != nil {
		return errNoJSON
	}
	for _, p := range parts {
		if p.Text != nil {
			t.Value, t.Present = t.Value+*p.Text, true
		}
	}
	return nil
}

// decodeChat turns an answer of success into a result. asked is how much text the request carried.
func (a *adapter) decodeChat(answer wire.Answer, asked int) (supplier.Outcome, error) {
	var body chatAnswer
	err := wire.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	if len(body.Choices) == 0 {
		return supplier.Outcome{}, wire.Unusable(answer.Status, errNoText)
	}
	c := body.Choices[0]
	if e := c.failure(answer.Status, c.Message); e != nil {
		return supplier.Outcome{}, e
	}
	reason := c.reason()
	if !c.Message.Content.Present && reason != "length" { // all of a short budget may go into thinking
		return supplier.Outcome{}, wire.Unusable(answer.Status, errNoText)
	}
	return a.textOutcome(c.Message.Content.Value, reason, body.Usage, asked), nil
}

// failure returns the error that a choice reports, with its message or delta p; nil if it has none.
// A review's refusal is a definite answer; work that broke off may have been paid.
func (c choice) failure(status int, p piece) *supplier.Error {
	sent, code, cause := supplier.Unknown, fault.ProviderUnavailable, errCut
	switch reason := c.finish(); {
	case reason == "content_filter", p.Refusal != nil && *p.Refusal != "":
		sent, code, cause = supplier.Refused, fault.ContentPolicyViolation, errReview
	case reason == "insufficient_system_resource":
		code = fault.CapacityExhausted
	case reason == "error", len(c.Error) > 0 && string(c.Error) != "null":
	default:
		return nil
	}
	e := wire.Failure(sent, code, cause)
	e.Status = status
	return e
}

func (c choice) finish() string {
	if c.FinishReason == nil {
		return ""
	}
	return strings.ToLower(*c.FinishReason)
}

// reason returns the neutral finish reason; whatever ends a text without cutting it is "stop".
func (c choice) reason() string {
	switch c.finish() {
	case "length", "max_tokens", "max_output_tokens", "model_length":
		return "length"
	default:
		return "stop"
	}
}

func (s settings) textOutcome(value, reason string, report json.RawMessage, asked int) supplier.Outcome {
	used := parseUsage(report)
	return supplier.Outcome{Result: &supplier.Result{
		Text: &value, FinishReason: reason, Usage: used.tokens(asked, len(value)), Charged: s.charged(used),
	}}
}
