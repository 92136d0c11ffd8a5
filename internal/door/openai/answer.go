package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/fault"
	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Members of an assistant's message beside OpenAI's own. Others who serve this format tell a model's thoughts by the
// same name.
const (
	memberReasoning = "reasoning_content"
	memberState     = "state"
)

// Write writes the answer that a task which succeeded is; a response, whatever became of the task.
func (c *Call) Write(w *jsonwrite.Writer, t *task.Task) error {
	if c.response != nil {
		return c.writeResponse(w, t)
	}
	if c.Base == embedBase {
		return c.writeEmbeddings(w, t)
	}
	p, err := partsOf(t)
	if err != nil {
		return err
	}
	w.Begin('{')
	c.head(w, t, "chat.completion")
	w.Name("choices")
	w.Begin('[')
	w.Begin('{')
	w.Name("index")
	w.Int(0)
	w.Name("message")
	writeMessage(w, p)
	w.Name("logprobs")
	w.Null()
	named(w, "finish_reason", p.FinishReason)
	w.End('}')
	w.End(']')
	w.Name("usage")
	writeUsage(w, t.Usage)
	w.End('}')
	return nil
}

// head writes the members that an answer and a chunk have in common.
func (c *Call) head(w *jsonwrite.Writer, t *task.Task, object string) {
	named(w, "id", t.ID)
	named(w, "object", object)
	w.Name("created")
	w.Int(t.CreatedAt.Unix())
	named(w, fieldModel, c.Model)
}

// outputOf decodes the output of a task, if it has one.
func outputOf(t *task.Task, out any) error {
	if t.Output == nil {
		return nil
	}
	return json.Unmarshal(t.Output.JSON, out)
}

// otherOutput is the fault of an output that the capability doesn't have; cause: nil if it is JSON at all.
func otherOutput(t *task.Task, cause error) error {
	return fault.Wrap(fault.Internal, cause, "the task's output is of another form").WithTask(t.ID)
}

func writeMessage(w *jsonwrite.Writer, p task.Parts) {
	w.Begin('{')
	named(w, "role", "assistant")
	w.Name("content")
	if *p.Text == "" && len(p.ToolCalls) > 0 {
		w.Null()
	} else {
		w.String(*p.Text)
	}
	w.Name("refusal")
	w.Null()
	if p.Reasoning != "" {
		named(w, memberReasoning, p.Reasoning)
	}
	if p.State != "" {
		named(w, memberState, p.State)
	}
	if len(p.ToolCalls) > 0 {
		w.Name("tool_calls")
		w.Begin('[')
		for _, c := range p.ToolCalls {
			w.Begin('{')
			named(w, "id", c.ID)
			named(w, "type", typeFunction)
			w.Name(typeFunction)
			w.Begin('{')
			named(w, "name", c.Name)
			named(w, "arguments", argumentsOf(c))
			w.End('}')
			w.End('}')
		}
		w.End(']')
	}
	w.End('}')
}

// argumentsOf returns the arguments of a call as text: an object as JSON, or the model's own words.
func argumentsOf(c task.ToolCall) string {
	if words, ok := inbound.TextOf(c.Arguments); ok {
		return string(words)
	}
	return string(c.Arguments)
}

func writeUsage(w *jsonwrite.Writer, u *task.Usage) {
	if u == nil {
		u = &task.Usage{}
	}
	w.Begin('{')
	count(w, "prompt_tokens", u.InputTokens)
	count(w, "completion_tokens", u.OutputTokens)
	count(w, "total_tokens", u.InputTokens+u.OutputTokens)
	w.Name("prompt_tokens_details")
	w.Begin('{')
	count(w, "cached_tokens", u.CachedInputTokens)
	count(w, "audio_tokens", u.AudioInputTokens)
	w.End('}')
	w.Name("completion_tokens_details")
	w.Begin('{')
	count(w, "reasoning_tokens", u.ReasoningTokens)
	count(w, "audio_tokens", u.AudioOutputTokens)
	w.End('}')
	w.End('}')
}

// writeEmbeddings writes vectors as the task has them: lists of numbers, or base64.
func (c *Call) writeEmbeddings(w *jsonwrite.Writer, t *task.Task) error {
	w.Begin('{')
	named(w, "object", "list")
	w.Name("data")
	w.Begin('[')
	n := 0
	if t.Output != nil {
		in := jsonread.Sound(t.Output.JSON)
		for m := in.Among("embeddings"); m.Next(); {
			inbound.Elements(in.Value(), func(i int, vector []byte) {
				n++
				w.Begin('{')
				named(w, "object", "embedding")
				count(w, "index", int64(i))
				w.Name("embedding")
				w.JSON(vector)
				w.End('}')
			})
		}
	}
	if n == 0 {
		return otherOutput(t, nil)
	}
	w.End(']')
	named(w, fieldModel, c.Model)
	var used int64
	if t.Usage != nil {
		used = t.Usage.InputTokens
	}
	w.Name("usage")
	w.Begin('{')
	count(w, "prompt_tokens", used)
	count(w, "total_tokens", used)
	w.End('}')
	w.End('}')
	return nil
}

func named(w *jsonwrite.Writer, name, value string) {
	w.Name(name)
	w.String(value)
}

func count(w *jsonwrite.Writer, name string, n int64) {
	w.Name(name)
	w.Int(n)
}

// Models is the list of models.
type Models struct {
	Object string  `json:"object"`
	Data   []Model `json:"data"`
}

// Model is a capability that is called as a model. It has no time of its making.
type Model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// Callable reports whether a path here calls the capability.
func Callable(c catalog.Capability) bool {
	bases := []catalog.Name{chatBase, embedBase, imageBase, editBase, speechBase, transcribeBase, moderateBase}
	return slices.Contains(bases, c.Base())
}

// ModelOf returns the model of a name.
func ModelOf(name string) Model {
	return Model{ID: name, Object: "model", OwnedBy: "unitask"}
}

// Canceled is the error of a call whose task somebody ended.
func Canceled(t *task.Task) *fault.Error {
	return fault.New(fault.InvalidRequest, "the task was canceled").WithTask(t.ID)
}

// Retried reports whether one of OpenAI's libraries sends a request again, by the value of HeaderRetryCount.
func Retried(count string) bool {
	return count != "" && strings.Trim(count, "0123456789") == "" && strings.Trim(count, "0") != ""
}
