// Package all is the one list of the kinds of suppliers. A new kind is one line here.
package all

import (
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
)

// Kinds returns every kind, in the order of their names.
func Kinds() []supplier.Kind {
	return []supplier.Kind{
		openai.Kind(),
	}
}
