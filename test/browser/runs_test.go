//go:build unix

package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unitask/test/harness"
)

// tiers are three capabilities beside text.chat, of which one takes less.
const tiers = `capabilities:
  - {name: text.chat.large, extends: text.chat, title: Chat with a large model, description: Answers hard questions.}
  - {name: text.chat.fast, extends: text.chat, title: Chat fast, description: Answers at once.}
  - name: text.chat.short
    extends: text.chat
    title: Chat in short
    description: Takes a prompt alone.
    input: {properties: {messages: null}}
`

// TestRuns: a browser remembers whose runs they are, goes on with those that a page had begun, and sends none twice.
func TestRuns(t *testing.T) {
	s := harness.NewServer(t)
	if err := os.WriteFile(filepath.Join(s.Dir, "tiers.yaml"), []byte(tiers), 0o600); err != nil {
		t.Fatal(err)
	}
	live := harness.NewSupplier(t).Config()
	at := strings.Index(live, "    - {supplier")
	s.Config = "catalog: [tiers.yaml]\n" + live + "  text.chat.large:\n" + strings.Replace(live[at:], `"2"`, `"20"`, 1)
	run(t, "runs.mjs", s)
	if t.Failed() {
		t.Log(s.Warnings())
	}
}
