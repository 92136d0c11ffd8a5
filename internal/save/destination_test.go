package save

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/secret"
	"unitask/internal/task"
)

// shelf is a folder with a folder beside it, and files in both.
type shelf struct{ dir string }

func newShelf(t *testing.T) shelf {
	t.Helper()
	s := shelf{t.TempDir()}
	for _, name := range []string{"out/taken.txt", "beside/victim.txt"} {
		if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.path(name), []byte("old"), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out/link.txt": "../beside/victim.txt", "out/away": "../beside"} {
		if err := os.Symlink(filepath.FromSlash(to), s.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.path("out/folder.txt"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s shelf) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// files is every file and link with its content, for a link "→" and its target.
func (s shelf) files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(s.dir, path)
		if d.Type() == fs.ModeSymlink {
			to, err := os.Readlink(path)
			all[filepath.ToSlash(name)] = "→" + to
			return err
		}
		raw, err := os.ReadFile(path)
		all[filepath.ToSlash(name)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const savedID = "task_06gztwr81bcb6csfsxswat9e1m"

// TestSave saves a text: into the named folder alone, over no file without consent.
func TestSave(t *testing.T) {
	taken := &ExistError{}
	tests := []struct {
		name, to, id string
		replace      bool
		wrote        string // "" for no error
		exist        bool
	}{
		{name: "into a folder", to: "out", wrote: "out/" + savedID + ".txt"},
		{name: "into a new folder", to: "new/er/", wrote: "new/er/" + savedID + ".txt"},
		{name: "to a file", to: "out/poem.txt", wrote: "out/poem.txt"},
		{name: "with an ending", to: "out/poem.*", wrote: "out/poem.txt"},
		{name: "into no folder", to: "nowhere/poem.txt"},
		{name: "there", to: "out/taken.txt", exist: true},
		{name: "there, replaced", to: "out/taken.txt", replace: true, wrote: "out/taken.txt"},
		{name: "a link", to: "out/link.txt", exist: true},
		{name: "a link, replaced", to: "out/link.txt", replace: true, wrote: "out/link.txt"},
		{name: "a folder of the name", to: "out/folder.*", exist: true},
		{name: "a folder of the name, replaced", to: "out/folder.*", replace: true},
		{name: "an id that leads away", to: "out", id: "../beside/victim"},
		{name: "an id that leads away, replaced", to: "out", id: "../beside/victim", replace: true},
		{name: "an id over a link", to: "out", id: "away/victim", replace: true},
		{name: "an absolute id", to: "out", id: "/tmp/x"},
		{name: "an id of dots", to: "out", id: ".."},
		{name: "no id", to: "out", id: " ", wrote: "out/ .txt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShelf(t)
			want := s.files(t)
			done := api.Task{ID: tt.id, State: task.Succeeded, Output: &api.Output{Text: new("new")}}
			if tt.id == "" {
				done.ID = savedID
			}
			to := s.path(tt.to)
			if tt.to[len(tt.to)-1] == '/' {
				to += "/"
			}
			files, err := Files{}.Save(t.Context(), done, to, tt.replace)
			if tt.wrote == "" {
				if err == nil || errors.As(err, &taken) != tt.exist {
					t.Errorf("error %v; one of what is there: %t", err, tt.exist)
				}
			} else {
				want[tt.wrote] = "new"
				if diff := cmp.Diff([]string{s.path(tt.wrote)}, files); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
			if diff := cmp.Diff(want, s.files(t)); diff != "" {
				t.Errorf("the disk (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSaveInFull saves pictures from a service, all or none of them as far as names go.
func TestSaveInFull(t *testing.T) {
	const pixels = "the pixels"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, pixels) }))
	defer service.Close()
	c, err := client.New(client.Config{BaseURL: service.URL, Key: func(context.Context) (secret.Value, error) { return secret.New("x"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	files, s := Files{c}, newShelf(t)
	one := api.Artifact{
		ID: "art_1", URL: service.URL + "/art_1", ContentType: "image/png",
		Bytes: int64(len(pixels)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(pixels))),
	}
	done := api.Task{ID: savedID, State: task.Succeeded, Output: &api.Output{Images: []api.Artifact{one, one}}}
	if err := os.WriteFile(s.path("out/fox-2.png"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := s.files(t)
	var there *ExistError
	if _, err := files.Save(t.Context(), done, s.path("out/fox.*"), false); !errors.As(err, &there) {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff([]string{"fox-2.png"}, there.Names); diff != "" {
		t.Errorf("there (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, s.files(t)); diff != "" {
		t.Errorf("the disk (-want +got):\n%s", diff)
	}
	if _, err := files.Save(t.Context(), done, s.path("out/fox.*"), true); err != nil {
		t.Fatal(err)
	}
	before["out/fox.png"], before["out/fox-2.png"] = pixels, pixels
	if diff := cmp.Diff(before, s.files(t)); diff != "" {
		t.Errorf("the disk (-want +got):\n%s", diff)
	}
}

// TestWriteInto: a file that appears at the last moment is left alone, a failed writer leaves no file, and a replaced
// file keeps its mode.
func TestWriteInto(t *testing.T) {
	s := newShelf(t)
	root, err := os.OpenRoot(s.path("out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	before := s.files(t)
	says := func(word string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, word)
			return err
		}
	}
	var there *ExistError
	if err := writeInto(root, "taken.txt", false, says("new")); !errors.As(err, &there) {
		t.Errorf("error %v", err)
	}
	broken := errors.New("broken")
	for name, replace := range map[string]bool{"fresh.txt": false, "taken.txt": true} {
		err := writeInto(root, name, replace, func(w io.Writer) error { return errors.Join(says("half")(w), broken) })
		if !errors.Is(err, broken) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if diff := cmp.Diff(before, s.files(t)); diff != "" {
		t.Errorf("the disk (-want +got):\n%s", diff)
	}
	if err := writeInto(root, "taken.txt", true, says("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.path("out/taken.txt"))
	if err != nil || info.Mode().Perm() != 0o640 || info.Size() != 3 {
		t.Errorf("%v %v", info, err)
	}
}

// TestSaveAtHome saves below the home folder, which "~" names, and completes paths there as elsewhere.
func TestSaveAtHome(t *testing.T) {
	s := newShelf(t)
	t.Setenv("HOME", s.dir)
	files := Files{}
	done := api.Task{ID: savedID, State: task.Succeeded, Output: &api.Output{Text: new("new")}}
	for to, want := range map[string]string{"~": savedID + ".txt", "~/out/poem.*": "out/poem.txt", "~/poems/": "poems/" + savedID + ".txt"} {
		got, err := files.Save(t.Context(), done, to, false)
		if diff := cmp.Diff([]string{s.path(want)}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", to, err, diff)
		}
	}
	for prefix, want := range map[string][]string{
		"~":                  {"~/"},
		"~/o":                {"~/out/"},
		"~/out/t":            {"~/out/taken.txt"},
		"~/nowhere/":         nil,
		s.path("out") + "/f": {s.path("out") + "/folder.txt/"},
		s.path("b"):          {s.path("beside") + "/"},
	} {
		if diff := cmp.Diff(want, files.Complete(prefix)); diff != "" {
			t.Errorf("%s goes on (-want +got):\n%s", prefix, diff)
		}
	}
}
