package crash_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"unitask/internal/task"
	"unitask/test/harness"
)

// The suppliers, cheapest first: one server under two paths.
const (
	cheap = "cheap"
	dear  = "dear"
)

// The price of an answer at each, in nano-USD: ten tokens in and ten out, by the routes' prices.
const (
	cheapCharge task.Money = 10*1_000 + 10*2_000
	dearCharge  task.Money = 2 * cheapCharge
)

// hangTime is longer than the suppliers' timeout in the configuration.
const hangTime = 1500 * time.Millisecond

func newSupplier(t *testing.T, rng *rand.Rand) *harness.Chats {
	t.Helper()
	s := harness.NewChats(t, rng, map[string]task.Money{cheap: cheapCharge, dear: dearCharge})
	s.Hang = hangTime
	return s
}

// config is the server's configuration.
func config(base string) string {
	return fmt.Sprintf(`limits: {creates_per_minute: 0, reads_per_minute: 0, open_tasks: 0}
suppliers:
  - {name: %[1]s, kind: openai, base_url: "%[3]s/%[1]s", timeout: 1s}
  - {name: %[2]s, kind: openai, base_url: "%[3]s/%[2]s", timeout: 1s}
routes:
  text.chat:
    - {supplier: %[1]s, model: one, price: {unit: mtok, input: "1", output: "2"}}
    - {supplier: %[2]s, model: one, price: {unit: mtok, input: "2", output: "4"}}
`, cheap, dear, base)
}
