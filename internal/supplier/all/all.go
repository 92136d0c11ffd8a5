// Package all is the one list of the kinds of suppliers. A new kind is one line here.
package all

import (
	"unitask/internal/supplier"
	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/fal"
	"unitask/internal/supplier/gemini"
	"unitask/internal/supplier/httpmap"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/replicate"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/supplier/unitask"
)

// Kinds returns every kind, by name.
func Kinds() []supplier.Kind {
	return []supplier.Kind{
		anthropic.Kind(),
		fal.Kind(),
		gemini.Kind(),
		httpmap.Kind(),
		openai.Kind(),
		replicate.Kind(),
		sandbox.Kind(),
		unitask.Kind(),
	}
}
