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
}

// CapabilityList is the directory.
type CapabilityList struct {
	Data      []Capability `json:"data"`
	RequestID string       `json:"request_id"`
}

// FromCapability returns a directory entry with the price its caller pays.
func FromCapability(c catalog.Capability, p task.Price) Capability {
	unit := p.Unit
	if unit == "" {
		unit = task.PerMillionTokens // the zero Price: free
	}
	return Capability{
		Name: c.Name, Title: c.Title, Description: c.Description, Modality: c.Modality, Mode: c.Mode,
		InputSchema: c.InputSchema, ParametersSchema: c.ParametersSchema, OutputSchema: c.OutputSchema,
		Example: c.Example,
		Price:   Price{Currency: "USD", Unit: unit, Input: p.Input.String(), Output: p.Output.String()},
	}
}
