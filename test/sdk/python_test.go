package sdk_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/task"
	"unitask/test/harness"
)

const pythonFolder = "../../sdk/python"

// python runs the interpreter on a real server, with the library from path.
func python(t *testing.T, path, dir string, args ...string) string {
	t.Helper()
	program := need(t, "python3")
	readAll(t, pythonFolder)
	s := harness.NewServer(t)
	s.Start()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(s.Environ(), "PYTHONPATH="+path, "PYTHONDONTWRITEBYTECODE=1", "UNITASK_BASE_URL="+s.Base, "UNITASK_API_KEY="+s.MustNewKey(task.Test))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("python3 %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestPython runs the library's own tests: its calls, and what it does about cut connections, lost answers and refusals.
func TestPython(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(pythonFolder)
	if err != nil {
		t.Fatal(err)
	}
	out := python(t, filepath.Join(dir, "src"), dir, "-W", "error", "-m", "unittest", "discover", "-s", "tests", "-v")
	if strings.Count(out, " ... ok\n") < fewestPythonTests || strings.Contains(out, "skipped") {
		t.Errorf("the tests that ran:\n%s", out)
	}
}

// fewestPythonTests guards against a run that finds none.
const fewestPythonTests = 15

// TestPythonIsTyped: a checker of types finds nothing in the library, and in a program what is wrong and nothing else.
func TestPythonIsTyped(t *testing.T) {
	t.Parallel()
	readAll(t, pythonFolder)
	checker := filepath.Join(installed(t), ".bin", "pyright")
	const program = "testdata/typed.py"
	source := filepath.Join(pythonFolder, "src")
	cmd := exec.CommandContext(t.Context(), checker, "--pythonversion", "3.11", "--outputjson", source, program)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+source)
	out, err := cmd.Output() // it ends with 1 if it finds something
	var found struct {
		GeneralDiagnostics []struct {
			File, Message string
			Range         struct{ Start struct{ Line int } }
		}
		Summary struct{ FilesAnalyzed int }
	}
	if broken := json.Unmarshal(out, &found); broken != nil || found.Summary.FilesAnalyzed < 10 {
		t.Fatalf("pyright: %v, %v\n%s", err, broken, out)
	}
	raw, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	lines, refused := strings.Split(string(raw), "\n"), map[int]bool{}
	for _, d := range found.GeneralDiagnostics {
		line := d.Range.Start.Line
		if filepath.Base(d.File) != "typed.py" || !strings.HasSuffix(lines[line], "# refused") {
			t.Errorf("%s:%d: %s", d.File, line+1, d.Message)
		}
		refused[line] = true
	}
	for i, text := range lines {
		if strings.HasSuffix(text, "# refused") && !refused[i] {
			t.Errorf("line %d is taken: %s", i+1, text)
		}
	}
}

// TestPythonWheel builds the wheel, as pip does, and runs the README's programs with it.
func TestPythonWheel(t *testing.T) {
	t.Parallel()
	built := t.TempDir()
	build := exec.CommandContext(t.Context(), need(t, "python3"), "-B", "-c", `import sys, backend; print(backend.build_wheel(sys.argv[1]))`, built)
	build.Dir = pythonFolder
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("building the wheel: %v\n%s", err, out)
	}
	wheel := filepath.Join(built, strings.TrimSpace(string(out))) // Python imports from it as from a folder
	wheelLicense(t, wheel)
	tryPip(t, wheel)
	for i, text := range blocks(t, filepath.Join(pythonFolder, "README.md"), "python") {
		out := python(t, wheel, t.TempDir(), "-W", "error", "-c", text)
		if strings.TrimSpace(out) == "" {
			t.Errorf("program %d of the README says nothing", i+1)
		}
	}
}

// wheelLicense checks that the wheel has the license and its metadata names it.
func wheelLicense(t *testing.T, wheel string) {
	t.Helper()
	sameLicense(t, filepath.Join(pythonFolder, "LICENSE"))
	files, err := zip.OpenReader(wheel)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	info := strings.TrimSuffix(filepath.Base(wheel), "-py3-none-any.whl") + ".dist-info"
	if _, err := fs.Stat(files, info+"/licenses/LICENSE"); err != nil {
		t.Error(err)
	}
	if about, err := fs.ReadFile(files, info+"/METADATA"); err != nil || !strings.Contains(string(about), "\nLicense-File: LICENSE\n") {
		t.Errorf("the metadata names no license: %v\n%s", err, about)
	}
}

// tryPip installs the wheel where there is a pip: it reads the archive's records more strictly than Python does.
func tryPip(t *testing.T, wheel string) {
	t.Helper()
	if exec.CommandContext(t.Context(), "python3", "-m", "pip", "--version").Run() != nil {
		t.Log("there is no pip: the wheel is imported without")
		return
	}
	into := t.TempDir()
	pip := exec.CommandContext(t.Context(), "python3", "-m", "pip", "install", "--no-index", "--no-compile", "--target", into, wheel)
	if out, err := pip.CombinedOutput(); err != nil {
		t.Errorf("pip: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(into, "unitask", "py.typed")); err != nil {
		t.Error(err)
	}
}

// blocks returns the programs in a document that are of a language.
func blocks(t *testing.T, file, language string) (all []string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq("\n"+string(raw), "\n```") {
		if text, ok := strings.CutPrefix(part, language+"\n"); ok {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s has no programs in %s", file, language)
	}
	return all
}
