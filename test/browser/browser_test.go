//go:build unix

// Package browser drives the console and the trial of the real server in a real headless Chromium, as people
// use them, and judges every page: no violation that axe finds, no report of the content security policy, no
// error on the page, usable by keyboard alone, at 390 pixels and in the dark.
package browser_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
	"unitask/test/fixture"
	"unitask/test/harness"
)

// TestMain runs three scripts at a time unless -parallel says otherwise: each waits for its browser, which waits for the
// server.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "3"); err != nil {
		panic(err) // the testing package has this flag
	}
	os.Exit(harness.Main(m))
}

var update = flag.Bool("update", false, "take the screenshots in docs/screenshots anew")

// scriptTime bounds a script, below the time that go test gives a package; a minute does at rest.
const scriptTime = 9 * time.Minute

// need ends the test if a tool is missing: in CI by a failure.
func need(t *testing.T, found bool, what string) {
	t.Helper()
	switch {
	case found:
	case os.Getenv("CI") == "true":
		t.Fatalf("%s is missing, and CI must run this test", what)
	default:
		t.Skipf("%s is missing: nothing is tested in a browser here", what)
	}
}

// tools returns the browser, node and the folder of the modules that `make npm` installs.
func tools(t *testing.T) (chromium, node, modules string) {
	t.Helper()
	var err error
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if chromium, err = exec.LookPath(name); err == nil {
			break
		}
	}
	need(t, err == nil, "chromium (Debian: apt install chromium)")
	node, err = exec.LookPath("node")
	need(t, err == nil, "node")
	modules, err = filepath.Abs(filepath.Join("..", "npm"))
	if err == nil {
		_, err = os.Stat(filepath.Join(modules, "node_modules", "playwright-core"))
	}
	need(t, err == nil, "playwright-core (make npm)")
	return chromium, node, modules
}

// setting is a script's input.
type setting struct {
	Base        string   `json:"base"`
	Link        string   `json:"link"`
	Binary      string   `json:"binary"`
	Environment []string `json:"environment"`
	Chromium    string   `json:"chromium"`
	Modules     string   `json:"modules"`
	Folder      string   `json:"folder"`      // the script's own, for the browser's profile and files
	Screenshots string   `json:"screenshots"` // their folder; "" without
	Root        bool     `json:"root"`        // who can't be given Chromium's sandbox
	More        any      `json:"more"`        // of one script alone
}

// run runs a script against a server with the sandbox's suppliers, by a link for an operator. prepare, if any, makes
// further data of the pages, and returns what the script is told of them.
func run(t *testing.T, script string, s *harness.Server, prepare ...func(*client.Admin) any) {
	t.Helper()
	t.Parallel()
	chromium, node, modules := tools(t)
	s.Start()
	admin, err := client.NewAdmin(s.Data())
	if err != nil {
		t.Fatal(err)
	}
	furnish(t, admin)
	link, err := admin.Invite(t.Context(), home, api.Invite{Member: "Ada Byron", Role: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	told := setting{
		Base: s.Base, Link: link.URL, Binary: harness.Binary(), Environment: s.Environ(), Chromium: chromium, Modules: modules,
		Folder: t.TempDir(), Root: os.Geteuid() == 0,
	}
	for _, p := range prepare {
		told.More = p(admin)
	}
	if *update {
		if told.Screenshots, err = filepath.Abs(filepath.Join("..", "..", "docs", "screenshots")); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	drive(t, node, script, raw)
	if *update { // TestScreenshots has judged those of before
		for _, file := range fixture.Must(filepath.Glob(filepath.Join(told.Screenshots, "*.png")))(t) {
			judgePicture(t, file)
		}
	}
}

// home is the account of whoever signs in; the scripts know its name.
const home = "Harbour Books"

// furnish makes the pages' initial data.
func furnish(t *testing.T, admin *client.Admin) {
	t.Helper()
	for _, a := range []api.AccountCreate{
		{Name: home},
		{Name: "Field Notes", Capabilities: []string{"text.*"}, Limits: api.Limits{Budget: "25", BudgetPeriod: "month"}},
	} {
		if _, err := admin.CreateAccount(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []api.KeyCreate{
		{Name: "nightly reports", Mode: task.Live, Scopes: []string{"text.*"}, Limits: api.Limits{Budget: "4", BudgetPeriod: "day"}},
		{Name: "cover artist", Mode: task.Test, Scopes: []string{"image.*", "video.generate"}, ExpiresInSeconds: 30 * 24 * 3600},
	} {
		k.Account = home
		if _, err := admin.CreateKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
}

// drive runs a script in a process group of its own, which ends with the test, browser and all.
func drive(t *testing.T, node, script string, told []byte) {
	t.Helper()
	scripts, err := filepath.Glob("*.mjs")
	for _, name := range scripts {
		_, statErr := os.Stat(name) // so that go test runs again if one has changed
		err = errors.Join(err, statErr)
	}
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	command := exec.CommandContext(t.Context(), node, script)
	command.Stdin = bytes.NewReader(told)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	timer := time.AfterFunc(scriptTime, end)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		t.Log(lines.Text())
	}
	err = command.Wait()
	timer.Stop()
	end()
	if err != nil {
		t.Errorf("%s: %v\n%s", script, err, strings.TrimSpace(problems.String()))
	}
}

// TestConsole is the show: from the one-time link to a revoked key.
func TestConsole(t *testing.T) {
	s := harness.NewServer(t)
	s.Config = harness.NewSupplier(t).Config() // of live chats
	run(t, "console.mjs", s)
	if t.Failed() {
		t.Log(s.Warnings())
	}
}

// TestPages: pictures, polling, secrets that are shown once, and questions.
func TestPages(t *testing.T) {
	s := harness.NewServer(t)
	s.Config = "webhook_http: true\nwebhook_allow: [127.0.0.1]\n"
	run(t, "pages.mjs", s)
}
