package api

import (
	"encoding/json"

	"unitask/internal/catalog"
	"unitask/internal/task"
)

// Capability is one entry of the directory as a caller reads it.
type Capability struct {
	Name             catalog.Name    `json:"name"`
	Title            string          `json:"title"`
	Description      string          `json:"description"`
	Modality         string          `json:"modality"`
	Mode             catalog.Mode    `json:"mode"`
	InputSchema      json.RawMessage `json:"input_schema"`
	ParametersSchema json.RawMessage `json:"parameters_schema"`
	OutputSchema     json.RawMessage `json:"output_schema"`
	Example          json.RawMessage `json:"example"`
	Price            Price           `json:"price"`
}

// Price is the caller's price, in exact decimals a unit.
type Price struct {
	Currency string    `json:"currency"` // "USD"
	Unit     task.Unit `json:"unit"`
	Input    string    `json:"input"`
	Output   string    `json:"output"`

	// Prices of kinds of tokens, a million; without one a kind costs as the rest of its direction.
	CachedInput string `json:"cached_input,omitempty"`
	CacheWrite  string `json:"cache_write,omitempty"`
	ImageInput  string `json:"image_input,omitempty"`
	AudioInput  string `json:"audio_input,omitempty"`
	Reasoning   string `json:"reasoning,omitempty"`
	ImageOutput string `json:"image_output,omitempty"`
	AudioOutput string `json:"audio_output,omitempty"`

	// Prices beside the unit; without one the work is free.
	Page    string `json:"page,omitempty"`
	Request string `json:"request,omitempty"`
	Search  string `json:"search,omitempty"`
}

// CapabilityList is the directory.
type CapabilityList struct {
	Data      []Capability `json:"data"`
	RequestID string       `json:"request_id"`
}

// FromCapability returns a directory entry with the price its caller pays.
func FromCapability(c catalog.Capability, p task.Price) Capability {
	return Capability{
		Name: c.Name, Title: c.Title, Description: c.Description, Modality: c.Modality, Mode: c.Mode,
		InputSchema: c.InputSchema, ParametersSchema: c.ParametersSchema, OutputSchema: c.OutputSchema,
		Example: c.Example,
		Price:   fromPrice(p),
	}
}

func fromPrice(p task.Price) Price {
	out := Price{Currency: "USD", Unit: p.Unit, Input: p.Input.String(), Output: p.Output.String()}
	if out.Unit == "" {
		out.Unit = task.PerMillionTokens // the zero Price: free
	}
	r := p.Rates
	if r == nil {
		return out
	}
	out.CachedInput, out.CacheWrite, out.ImageInput, out.AudioInput = amount(r.CachedInput), amount(r.CacheWrite), amount(r.ImageInput), amount(r.AudioInput)
	out.Reasoning, out.ImageOutput, out.AudioOutput = amount(r.Reasoning), amount(r.ImageOutput), amount(r.AudioOutput)
	out.Page, out.Request, out.Search = amount(r.Page), amount(r.Request), amount(r.Search)
	return out
}

// amount writes a rate; "" for none.
func amount(m *task.Money) string {
	if m == nil {
		return ""
	}
	return m.String()
}
