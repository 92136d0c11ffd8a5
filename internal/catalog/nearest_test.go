package catalog_test

import (
	"testing"

	"unitask/internal/catalog"
)

func TestNearest(t *testing.T) {
	names := []string{"prompt", "negative_prompt", "n", "aspect_ratio", "size", "format", "quality", "seed"}
	for typed, want := range map[string]string{
		"promt": "prompt", "Prompt": "prompt", "aspect": "aspect_ratio", "fromat": "format", "sizes": "size", "zzz": "", "x": "n", "": "",
	} {
		if got := catalog.Nearest(typed, names); got != want {
			t.Errorf("catalog.Nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
