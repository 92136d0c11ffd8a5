package catalog_test

import (
	"testing"

	"unitask/internal/catalog"
)

func TestBounds(t *testing.T) {
	for want, f := range map[string]catalog.Field{
		"": {}, "at least 0.5": {Minimum: new(0.5)}, "at most 4": {Maximum: new(4.0)}, "1 to 4096": {Minimum: new(1.0), Maximum: new(4096.0)},
	} {
		if got := f.Bounds(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
