package hostile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"unitask/test/harness"
)

// partName tells a process of this program which part it plays.
const partName = "UNITASK_TEST_PART"

// order is the first input of such a process. It ends when its input does, or before.
type order struct {
	Target     string // as host:port; "": the server
	Rate       int    // in bytes a second, of all bodies together; 0: as fast as they go
	Keys       []string
	Times      int
	For        time.Duration
	Bodies     []string
	Idle, Slow int // connections
}

// parts are the processes' roles. Each writes its result as JSON.
var parts = map[string]func(o order, say func(any), end <-chan struct{}){
	"crowd":    crowd,
	"endless":  once(attackEndlessly),
	"large":    once(attackLargely),
	"inputs":   once(createAll),
	"mixed":    once(attackMixed),
	"supplier": editor,
	"watch":    watchUntil,
}

// once is a part that says one thing at its end.
func once(attack func(order) any) func(order, func(any), <-chan struct{}) {
	return func(o order, say func(any), _ <-chan struct{}) { say(attack(o)) }
}

// play is such a process. It returns its exit code.
func play(part string) int {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	line.rate = o.Rate
	end := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(end)
	}()
	parts[part](o, func(v any) { _ = json.NewEncoder(os.Stdout).Encode(v) }, end)
	return 0
}

// Whose turn it is at the processors. Attackers and suppliers have machines of their own, elsewhere: here they get
// idle time alone. So has whoever watches, whose own waiting for a processor isn't the server's fault.
var (
	last  = []string{"chrt", "-i", "0"}
	first = []string{"chrt", "-r", "1"}
)

// process is a process that plays a part.
type process struct {
	t       *testing.T
	command *exec.Cmd
	in      io.Closer
	out     *json.Decoder
}

// begin starts a process, at the priority if that is allowed.
func begin(t *testing.T, s *harness.Server, part string, priority []string, o order) *process {
	t.Helper()
	if o.Target == "" {
		o.Target = strings.TrimPrefix(s.Base, "http://")
	}
	args := []string{os.Args[0]}
	if exec.CommandContext(t.Context(), priority[0], append(priority[1:len(priority):len(priority)], "true")...).Run() == nil {
		args = append(priority[:len(priority):len(priority)], args...)
	} else if long(t) {
		t.Logf("%v isn't allowed: times depend on who else wants the processors", priority)
	}
	command := exec.CommandContext(t.Context(), args[0], args[1:]...)
	command.Env = append(os.Environ(), partName+"="+part)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, command: command, in: in, out: json.NewDecoder(out)}
	t.Cleanup(p.end)
	if err := json.NewEncoder(in).Encode(o); err != nil {
		t.Fatal(err)
	}
	return p
}

// hear waits for the next that the process says.
func (p *process) hear(v any) {
	p.t.Helper()
	if err := p.out.Decode(v); err != nil {
		p.t.Fatalf("%v said nothing: %v", p.command.Args, err)
	}
}

// stop tells the process to end.
func (p *process) stop() { _ = p.in.Close() }

func (p *process) end() {
	p.stop()
	_ = p.command.Wait()
}

// attack has a process do the attack, and decodes its outcome into result.
func attack(t *testing.T, s *harness.Server, name string, o order, result any) {
	t.Helper()
	attacker := begin(t, s, name, last, o)
	attacker.hear(result)
	attacker.end()
}
