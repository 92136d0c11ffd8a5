package upstream

import "unitask/internal/catalog"

// AskObject asks a model in words for any JSON object, where a format can't or does so only of a model that is told.
const AskObject = "Answer with one JSON object alone, without any words or marks around it."

// WithObject returns a text of the system that also asks for an object.
func WithObject(system string) string {
	if system == "" {
		return AskObject
	}
	return system + "\n\n" + AskObject
}

// AnyObject reports whether the answer is to be a JSON object of any form.
func (p *ChatParameters) AnyObject() bool { return catalog.IsAnyObject(p.OutputSchema) }
