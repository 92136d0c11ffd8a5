package node

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestUnboundedLimits: a 0 in the settings lifts the limit, and never becomes the gateway's default.
func TestUnboundedLimits(t *testing.T) {
	c := loadConfig(t, "limits: {body: 0, inline_media: 0, artifact: 0, json_depth: 0, workers: 0}\n")
	got, err := json.Marshal(limitsOf(c).Gateway)
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{`"JSONDepth":2147483647`, `"InlineMedia":9223372036854775807`, `"ArtifactBytes":9223372036854775807`, `"Workers":2147483647`} {
		if !strings.Contains(string(got), member) {
			t.Errorf("no %s in %s", member, got)
		}
	}
}
