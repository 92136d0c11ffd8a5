package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/test/fixture"
)

// TestCheckPatterns: a pattern that matches no capability is refused with the nearest that does, and one that is known
// is taken.
func TestCheckPatterns(t *testing.T) {
	directory := fixture.Must(catalog.Default())(t)
	known := []string{"webhooks", "music.compose"}
	for _, patterns := range [][]string{nil, {"*"}, {"text.chat", "video.*", "webhooks"}, {"music.compose"}} {
		if err := gate.CheckPatterns("scopes", patterns, known, directory); err != nil {
			t.Errorf("%q: %v", patterns, err)
		}
	}
	want := []fault.Detail{
		{Field: "scopes", Message: "hold text.caht, which matches no capability; perhaps text.chat is meant"},
		{Field: "scopes", Message: "hold vedio.*, which matches no capability; perhaps video.* is meant"},
		{Field: "scopes", Message: "hold webhook, which matches no capability; perhaps webhooks is meant"},
		{Field: "scopes", Message: "hold zebra, which matches no capability; unitask capabilities lists those there are"},
		{Field: "scopes", Message: "hold text, which matches no capability; perhaps text.* is meant"},
	}
	err := gate.CheckPatterns("scopes", []string{"text.caht", "text.chat", "vedio.*", "webhook", "zebra", "text"}, known, directory)
	if diff := cmp.Diff(want, fault.From(err).Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	if err := gate.CheckPatterns("scopes", []string{"zebra"}, nil, nil); err != nil {
		t.Errorf("without a directory: %v", err)
	}
}
