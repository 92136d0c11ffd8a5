package hostile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"unitask/test/harness"
)

// attackName tells an attacker's process what it is to do.
const attackName = "UNITASK_TEST_ATTACK"

// order is what an attacker's process reads.
type order struct {
	Target string // as host:port; "": the server, or sink
	Rate   int    // in bytes a second, of all bodies together; 0: as fast as they go
	Keys   []string
	Times  int
	For    time.Duration
	Bodies []string
}

// attacks are what an attacker's process does. What each returns is written as JSON.
var attacks = map[string]func(order) any{
	"endless": attackEndlessly,
	"large":   attackLargely,
	"inputs":  createAll,
	"mixed":   attackMixed,
}

// attack has a process do the attack, and puts what came of it into result. It has a process of its own, at the lowest
// priority: a stranger doesn't attack with the server's own processors, nor with those of whoever watches.
func attack(t *testing.T, s *harness.Server, name string, o order, result any) {
	t.Helper()
	if o.Target == "" {
		o.Target = strings.TrimPrefix(s.Base, "http://")
	}
	told, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	attacker := exec.CommandContext(t.Context(), "nice", "-n", "19", os.Args[0])
	attacker.Env = append(os.Environ(), attackName+"="+name)
	attacker.Stdin, attacker.Stderr = bytes.NewReader(told), os.Stderr
	out, err := attacker.Output()
	if err == nil {
		err = json.Unmarshal(out, result)
	}
	if err != nil {
		t.Fatalf("the attacker said %q: %v", out, err)
	}
}

// obey is the attacker's process. It returns its exit code.
func obey(name string) int {
	var o order
	err := json.NewDecoder(os.Stdin).Decode(&o)
	if err == nil && o.Target == sink {
		o.Target, err = newSink()
	}
	line.rate = o.Rate
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(attacks[name](o))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
