package gemini

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/catalog"
	"unitask/internal/supplier/upstream"
)

// tool is a list of functions or the search.
type tool struct {
	Functions []declaration `json:"functionDeclarations,omitempty"`
	Search    *struct{}     `json:"googleSearch,omitzero"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parametersJsonSchema"`
}

type toolConfig struct {
	Calling callingConfig `json:"functionCallingConfig"`
}

type callingConfig struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames,omitempty"`
}

// offer adds the tools of a request.
func (r *generateRequest) offer(p upstream.ChatParameters) {
	if len(p.Tools) > 0 {
		r.Tools = append(r.Tools, tool{Functions: declarations(p.Tools)})
		r.ToolConfig = newToolConfig(p.ToolChoice)
	}
	if p.WebSearch {
		r.Tools = append(r.Tools, tool{Search: &struct{}{}})
	}
}

// declarations describes each tool, as the format demands: one without a description by its name.
func declarations(tools []catalog.Tool) []declaration {
	var all []declaration
	for _, t := range tools {
		d := declaration{Name: t.Name, Description: t.Description, Parameters: t.Schema()}
		if d.Description == "" {
			d.Description = t.Name
		}
		all = append(all, d)
	}
	return all
}

func newToolConfig(choice string) *toolConfig {
	switch choice {
	case "":
		return nil
	case catalog.ToolsAuto, catalog.ToolsNone:
		return &toolConfig{callingConfig{Mode: strings.ToUpper(choice)}}
	case catalog.ToolsRequired:
		return &toolConfig{callingConfig{Mode: "ANY"}}
	default:
		return &toolConfig{callingConfig{Mode: "ANY", Allowed: []string{choice}}}
	}
}

// functionCall is a call of a tool, of requests and of answers.
type functionCall struct {
	ID   string          `json:"id,omitzero"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitzero"`
}

// text returns the arguments as they were written.
func (c functionCall) text() string {
	if len(c.Args) == 0 || string(c.Args) == "null" {
		return "{}"
	}
	return string(c.Args)
}

// functionResponse is the result of a call.
type functionResponse struct {
	ID       string          `json:"id,omitzero"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

// newResult returns the result of the call of a tool of this name.
func newResult(m upstream.ChatMessage, name string) (part, error) {
	said := m.Content.Text
	for i, p := range m.Content.Parts {
		if i > 0 {
			said += "\n"
		}
		said += p.Text
	}
	object := jsontext.Value(said)
	if !object.IsValid() || object.Kind() != '{' {
		raw, err := json.Marshal(map[string]string{"result": said})
		if err != nil {
			return part{}, err
		}
		object = raw
	}
	return part{Result: &functionResponse{ID: m.ToolCallID, Name: name, Response: json.RawMessage(object)}}, nil
}

// unsigned stands in the place of the signature of a call that the model hasn't made, in base64 as signatures are. It is
// Google's word for that: the page on thought signatures has it for conversations that come from another model.
const unsigned = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=" // skip_thought_signature_validator

// addCalls adds the calls of a message, with the signatures that they came with. strict: the model refuses a message
// whose first call has none.
func (c *content) addCalls(calls []upstream.PastCall, k kept, strict bool) error {
	for i, call := range calls {
		raw, err := json.Marshal(functionCall{ID: call.ID, Name: call.Name, Args: call.Object()})
		if err != nil {
			return err
		}
		p := part{Call: raw, Signature: k.of(i)}
		if i == 0 && p.Signature == "" && strict {
			p.Signature = unsigned
		}
		c.Parts = append(c.Parts, p)
	}
	return nil
}
