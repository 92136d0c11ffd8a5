package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"unitask/test/harness"
)

// TestScripts runs the real program in both of its roles: each script in testdata/script has a server
// of its own, with sandbox suppliers alone, and calls it by commands of the same binary.
//
// A new command comes with lines in a script, or with a script: it has to run, to be used wrongly and to
// show its help, or TestScriptsCoverCommands in cmd/unitask fails. A file that is put into the folder is
// found by itself. A script finds its server at $BASE with its data folder in $DATA; commands have a test
// key. Beside testscript's own commands there are:
//
//	exits CODE PROGRAM ARG...         run a program and check its exit code
//	terminal CODE KEYS PROGRAM ARG... the same on a terminal, where KEYS are typed; what it shows is stdout
//	server start|stop|kill            begin and end the server of the script
//	keep NAME                         keep what the last command printed in the variable NAME
//	ready URL                         wait until a server answers there that it is ready
//	[container] COMMAND               run a command where the script runs in a container
func TestScripts(t *testing.T) {
	found, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(found) < 10 {
		t.Fatalf("%d scripts, %v, want at least 10", len(found), err)
	}
	for _, file := range found {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			if filepath.Base(file) == "store.txtar" {
				harness.NeedsBolt(t)
			}
			h := newHost(t)
			h.start()
			testscript.Run(t, testscript.Params{
				Files: []string{file}, RequireExplicitExec: true,
				Setup:     func(e *testscript.Env) error { return setUp(e, h) },
				Condition: condition,
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"exits": harness.Exits, "terminal": harness.OnTerminal, "server": h.command, "ready": ready, "keep": keep,
				},
			})
		})
	}
}

func setUp(e *testscript.Env, h *host) error {
	in := func(name string) string { return filepath.Join(e.WorkDir, name) }
	e.Setenv("PATH", filepath.Dir(harness.Binary())+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, value := range map[string]string{
		"BASE": h.Base, "DATA": h.Data(), "KEY": h.key, "FREE": harness.FreeAddress(h.T), "SPARE": harness.FreeAddress(h.T),
		"SERVERCONFIG": filepath.Join(h.Dir, "config"),
		"HOME":         in("home"), "TERM": "xterm-256color", "NO_COLOR": "1", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/dev/null/none",
		"UNITASK_CONFIG_DIR": in("config"), "UNITASK_STATE_DIR": in("state"), "UNITASK_DATA_DIR": h.Data(),
		"UNITASK_BASE_URL": h.Base, "UNITASK_API_KEY": h.key, "UNITASK_STORE": h.Store(),
	} {
		e.Setenv(name, value)
	}
	return os.Mkdir(in("home"), 0o700)
}

// condition tells scripts whether they run in a container, as far as a file of Docker's says.
func condition(name string) (bool, error) {
	if name != "container" {
		return false, fmt.Errorf("no condition %q", name)
	}
	_, err := os.Stat("/.dockerenv")
	return err == nil, nil
}

// command is the script command server.
func (h *host) command(ts *testscript.TestScript, neg bool, args []string) {
	does := map[string]func(){"start": h.Start, "stop": h.Stop, "kill": h.Kill}
	if neg || len(args) != 1 || does[args[0]] == nil {
		ts.Fatalf("usage: server start|stop|kill")
	}
	does[args[0]]()
}

// keep is the script command of that name.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keep NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// ready is the script command of that name.
func ready(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ready URL")
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get(args[0] + "/readyz") //nolint:noctx // it has no other end than the loop's
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
	}
	ts.Fatalf("%s isn't ready after a minute", args[0])
}
