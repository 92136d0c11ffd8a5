package sdk_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/task"
	"unitask/test/harness"
)

const typeScriptFolder = "../../sdk/typescript"

// neighbours are the packages that stand beside the packed one when its tests run.
var neighbours = []string{"@ai-sdk/provider", "@types/json-schema", "ai", "standardwebhooks", "zod"}

// TestTypeScript packs the library, installs the packed file in an empty folder, has the compiler judge programs that use
// it, and runs its tests in plain Node against the real binary.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	modules := installed(t)
	app := t.TempDir()
	run(t, app, nil, "npm", "install", "--offline", "--no-audit", "--no-fund", "--silent", pack(t, modules))
	if plain := run(t, app, nil, "node", "--input-type=module", "-e", "import * as u from 'unitask'; import * as p from 'unitask/ai-sdk'; console.log(typeof u.Unitask, typeof p.createUnitask)"); plain != "function function\n" {
		t.Errorf("imported in plain Node it has %q", plain)
	}
	for _, name := range neighbours {
		link(t, filepath.Join(modules, name), filepath.Join(app, "node_modules", name))
	}
	copied(t, filepath.Join(typeScriptFolder, "test"), app)
	t.Run("types", func(t *testing.T) {
		t.Parallel()
		for _, project := range []string{"tsconfig.json", "tsconfig.ai.json"} {
			run(t, app, nil, filepath.Join(modules, ".bin", "tsc"), "--project", project)
		}
	})
	t.Run("tests", func(t *testing.T) {
		t.Parallel()
		server := harness.NewServer(t)
		server.Bootstrap = account.NewKeySecret(account.DefaultKeyPrefix, task.Test)
		server.Start()
		env := []string{"UNITASK_BASE_URL=" + server.Base, "UNITASK_API_KEY=" + server.Bootstrap}
		out := run(t, app, env, "node", "--test", "--test-concurrency=4", ".")
		if !strings.Contains(out, "# fail 0") || strings.Contains(out, "# pass 0") {
			t.Error("no test has passed")
		}
		t.Log(out)
	})
}

// TestTypeScriptVersions holds the compiler and the AI SDK's interface to those that the tests run.
func TestTypeScriptVersions(t *testing.T) {
	var ours, tested struct {
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
	}
	read(t, filepath.Join(typeScriptFolder, "package.json"), &ours)
	read(t, "../npm/package.json", &tested)
	if len(ours.Dependencies) > 0 || len(ours.DevDependencies) == 0 {
		t.Errorf("it depends on %v, and is made with %v", ours.Dependencies, ours.DevDependencies)
	}
	maps.DeleteFunc(tested.DevDependencies, func(name, _ string) bool { return ours.DevDependencies[name] == "" })
	if diff := cmp.Diff(tested.DevDependencies, ours.DevDependencies); diff != "" {
		t.Errorf("test/npm has other versions (-test/npm +here):\n%s", diff)
	}
}

// pack packs a copy of the library's folder as the README has it, and returns the packed file.
func pack(t *testing.T, modules string) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := os.ReadDir(typeScriptFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "node_modules", name == "dist", name == "test", strings.HasSuffix(name, ".tgz"):
		case e.IsDir():
			copied(t, filepath.Join(typeScriptFolder, name), filepath.Join(dir, name))
		default:
			copied(t, filepath.Join(typeScriptFolder, name), dir)
		}
	}
	link(t, modules, filepath.Join(dir, "node_modules"))
	run(t, dir, nil, "npm", "pack")
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("npm pack made %v, %v", packed, err)
	}
	beside := slices.DeleteFunc(archived(t, packed[0]), func(name string) bool { return strings.HasPrefix(name, "package/dist/") })
	if diff := cmp.Diff([]string{"package/LICENSE", "package/README.md", "package/package.json"}, beside); diff != "" {
		t.Errorf("beside dist (-want +got):\n%s", diff)
	}
	sameLicense(t, filepath.Join(typeScriptFolder, "LICENSE"))
	foreign(t, filepath.Join(dir, "dist"))
	return packed[0]
}

var imported = regexp.MustCompile("(?:\\bfrom|\\bimport|\\brequire)\\s*\\(?\\s*['\"`]([^'\"`]+)")

// foreign checks that the code imports nothing but itself.
func foreign(t *testing.T, dist string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dist, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".js") {
			return err
		}
		files++
		code, err := os.ReadFile(path)
		for _, found := range imported.FindAllStringSubmatch(string(code), -1) {
			if !strings.HasPrefix(found[1], ".") {
				t.Errorf("%s imports %s", filepath.Base(path), found[1])
			}
		}
		return err
	})
	if err != nil || files < 10 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// installed returns the folder of the tests' npm packages; without it the test fails in CI and is skipped elsewhere.
func installed(t *testing.T) string {
	t.Helper()
	modules, err := filepath.Abs("../npm/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"typescript", "pyright"}, neighbours...) {
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is not installed, and CI must run this test", name)
			}
			t.Skipf("%s is not installed (make npm)", name)
		}
	}
	return modules
}

// run runs a program in a folder and returns its output.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "NO_COLOR=1"), env...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, complaints.String())
	}
	return string(out)
}

// copied copies a file, or the files of a folder, into a folder.
func copied(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	switch {
	case err != nil:
		t.Fatal(err)
	case info.IsDir():
		err = os.CopyFS(to, os.DirFS(from))
	default:
		var b []byte
		if b, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.Base(from)), b, 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
