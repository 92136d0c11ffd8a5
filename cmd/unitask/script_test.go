package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"unitask/internal/task"
	"unitask/test/harness"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"unitask": func() {
		go endBeyond(mostMemory)
		main()
	}})
}

// mostMemory is far more than a command takes, and little enough for a machine to bear.
const mostMemory = 1 << 30

// endBeyond ends the process once it has taken so many bytes.
func endBeyond(most uint64) {
	taken := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	for {
		if metrics.Read(taken); taken[0].Value.Uint64() > most {
			fmt.Fprintln(os.Stderr, "it took too much memory")
			os.Exit(memoryCode)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// memoryCode is an exit code that no command has.
const memoryCode = 99

// TestScripts runs the real program against a fake service. Each script has its own: at $SERVICE,
// with its keys in $KEY and $OPERATOR_KEY, and its operator's socket in data/.
func TestScripts(t *testing.T) {
	found, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(found) < 5 {
		t.Fatalf("%d scripts, %v, want at least 5", len(found), err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			service := newFake(t)
			e.Defer(service.Close)
			config := filepath.Join(e.WorkDir, "config")
			data := filepath.Join(e.WorkDir, "data")
			if err := os.MkdirAll(data, 0o700); err != nil {
				return err
			}
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(data, "admin.sock"))
			if err != nil {
				return err
			}
			admin := &http.Server{Handler: newFakeAdmin(service.URL), ReadHeaderTimeout: time.Minute}
			go func() { _ = admin.Serve(l) }()
			e.Defer(func() { _ = admin.Close() })
			e.Values["service"] = service
			e.Setenv("SERVICE", service.URL)
			e.Setenv("KEY", fakeKey)
			e.Setenv("OPERATOR_KEY", fakeOperatorKey)
			e.Setenv("UNITASK_CONFIG_DIR", config)
			e.Setenv("UNITASK_STATE_DIR", filepath.Join(e.WorkDir, "state"))
			e.Setenv("UNITASK_BASE_URL", service.URL)
			e.Setenv("UNITASK_API_KEY", fakeKey)
			e.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/dev/null/none")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": harness.Exits, "terminal": harness.OnTerminal, "await": await, "finish": finish, "awaitstuck": awaitStuck, "datafolder": dataFolder, "lostlog": lostLog, "fault": plantFault, "cut": cut,
		},
	})
}

// await ID waits until the task was read once: whoever created it knows its id.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await ID")
	}
	awaitTask(ts, func(t *fakeTask) bool { return t.ID == args[0] && len(t.moves) > 1 })
}

// finish ID ends a task that doesn't end by itself.
func finish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: finish ID")
	}
	service := ts.Value("service").(*fake)
	awaitTask(ts, func(t *fakeTask) bool {
		if t.ID == args[0] {
			service.finish(t, 0)
		}
		return t.ID == args[0]
	})
}

// awaitStuck waits until a task runs that doesn't end by itself.
func awaitStuck(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: awaitstuck")
	}
	awaitTask(ts, func(t *fakeTask) bool { return t.prompt == "@stuck:running" && t.State == task.Running })
}

func awaitTask(ts *testscript.TestScript, ok func(*fakeTask) bool) {
	service := ts.Value("service").(*fake)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if service.has(ok) {
			return
		}
	}
	ts.Fatalf("there is no such task after a minute")
}
