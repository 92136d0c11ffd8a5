package gemini

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var (
	errNoContent = errors.New("the answer holds nothing of what was asked for")
	errCut       = errors.New("the supplier broke its work off")
	errNoImage   = errors.New("the supplier made no image")
	errReview    = errors.New("the supplier's review refused the content")
)

// Finish reasons that are told apart.
const (
	finishLength = "MAX_TOKENS"
	finishNone   = "FINISH_REASON_UNSPECIFIED" // some servers' value while the text goes on
)

// generateRequest is the format of everything but embeddings and videos. Numbers pass as they were written.
type generateRequest struct {
	Contents          []content        `json:"contents"`
	SystemInstruction *content         `json:"systemInstruction,omitempty"`
	Tools             []tool           `json:"tools,omitempty"`
	ToolConfig        *toolConfig      `json:"toolConfig,omitempty"`
	GenerationConfig  generationConfig `json:"generationConfig,omitzero"`
}

type generationConfig struct {
	MaxOutputTokens    json.RawMessage `json:"maxOutputTokens,omitempty"`
	Temperature        json.RawMessage `json:"temperature,omitempty"`
	TopP               json.RawMessage `json:"topP,omitempty"`
	StopSequences      []string        `json:"stopSequences,omitempty"`
	Seed               json.RawMessage `json:"seed,omitempty"`
	ResponseModalities []string        `json:"responseModalities,omitempty"`
	ResponseMimeType   string          `json:"responseMimeType,omitzero"`
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"`
	ThinkingConfig     *thinkingConfig `json:"thinkingConfig,omitempty"`
	ImageConfig        *imageConfig    `json:"imageConfig,omitempty"`
	SpeechConfig       *speechConfig   `json:"speechConfig,omitempty"`
}

type content struct {
	Role  string `json:"role,omitzero"`
	Parts []part `json:"parts"`
}

// part is one piece of a content, of requests and of answers.
type part struct {
	Text       string `json:"text,omitzero"`
	Thought    bool   `json:"thought,omitzero"`
	InlineData *blob  `json:"inlineData,omitempty"`
	// Call is a functionCall, as it was written.
	Call   json.RawMessage   `json:"functionCall,omitempty"`
	Result *functionResponse `json:"functionResponse,omitempty"`
	// Signature holds the model's thoughts about the part, encrypted (see kept).
	Signature string `json:"thoughtSignature,omitzero"`
}

type blob struct {
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"` // in base64
}

func textContent(role, text string) content {
	return content{Role: role, Parts: []part{{Text: text}}}
}

// bytes returns how much text the request carries, for an estimate of its tokens.
func (r *generateRequest) bytes() int {
	n := 0
	if r.SystemInstruction != nil {
		n += r.SystemInstruction.bytes()
	}
	for _, c := range r.Contents {
		n += c.bytes()
	}
	for _, t := range r.Tools {
		for _, f := range t.Functions {
			n += len(f.Name) + len(f.Description) + len(f.Parameters)
		}
	}
	return n
}

func (c content) bytes() int {
	n := 0
	for _, p := range c.Parts {
		n += len(p.Text) + len(p.Call)
		if p.Result != nil {
			n += len(p.Result.Response)
		}
	}
	return n
}

type generateAnswer struct {
	upstream.Envelope
	Candidates     []candidate `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata json.RawMessage `json:"usageMetadata"`
}

type candidate struct {
	Content      content         `json:"content"`
	FinishReason string          `json:"finishReason"`
	Grounding    json.RawMessage `json:"groundingMetadata"`
}

// decodeGenerate reads an answer of success, which has at least one candidate then, or returns the error
// that it amounts to.
func (a *adapter) decodeGenerate(answer upstream.Answer) (generateAnswer, error) {
	body, err := a.decodePiece(answer)
	if err == nil && len(body.Candidates) == 0 {
		err = upstream.Unusable(answer.Status, errNoContent)
	}
	return body, err
}

// decodePiece is decodeGenerate for one event of a stream, which may have no candidate.
func (a *adapter) decodePiece(answer upstream.Answer) (generateAnswer, error) {
	var body generateAnswer
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return body, err
	}
	if e := body.failure(); e != nil {
		e.Status = answer.Status
		return body, e
	}
	return body, nil
}

// failure returns the error that the answer reports, nil without one. A review's refusal is a definite answer, and so
// is that no image was made; work that broke off may have been paid.
func (b generateAnswer) failure() *supplier.Error {
	if why := b.PromptFeedback.BlockReason; why != "" && why != "BLOCK_REASON_UNSPECIFIED" {
		return upstream.Failure(supplier.Refused, fault.ContentPolicyViolation, errReview)
	}
	if len(b.Candidates) == 0 {
		return nil
	}
	switch reason := b.Candidates[0].FinishReason; reason {
	case "", "STOP", finishLength, finishNone:
		return nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "FUNCTION_CALL": // see calls
		return nil
	case "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION":
		return upstream.Failure(supplier.Refused, fault.ContentPolicyViolation, errReview)
	case "NO_IMAGE":
		return upstream.Failure(supplier.Refused, fault.ProviderUnavailable, errNoImage)
	default:
		if strings.HasPrefix(reason, "IMAGE_") {
			return upstream.Failure(supplier.Refused, fault.ContentPolicyViolation, errReview)
		}
		return upstream.Failure(supplier.Unknown, fault.ProviderUnavailable, errCut)
	}
}

// calls reports whether the candidate calls a tool, or meant to.
func (c candidate) calls() bool {
	if strings.HasSuffix(c.FinishReason, "_CALL") || strings.HasSuffix(c.FinishReason, "_CALLS") {
		return true
	}
	return slices.ContainsFunc(c.Content.Parts, func(p part) bool { return len(p.Call) > 0 })
}

// blobs returns the first candidate's files, without sketches.
func (b generateAnswer) blobs() []blob {
	var all []blob
	for _, p := range b.Candidates[0].Content.Parts {
		if p.InlineData != nil && !p.Thought && len(p.InlineData.Data) > 0 {
			all = append(all, *p.InlineData)
		}
	}
	return all
}
