package tui

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/form"
)

// mostListed bounds the names of a folder that are looked at; of each file the first bytes are read.
const mostListed = 5000

// listed is a choice of a picker: a file, a folder or a value.
type listed struct {
	name   string
	folder bool
	size   int64 // of a file
}

// folderMsg is a folder as it was read.
type folderMsg struct {
	asked  string
	path   string   // absolute; of the folder
	prefix string   // written before the name of a file in it
	all    []listed // folders first
	others int      // files that don't suit
	rest   int      // names that weren't looked at
	err    error
}

// readFolder lists the folders and those files whose content is of one of the kinds. Hidden names aren't listed, nor
// are names that a line of a form can't hold.
func readFolder(asked string, kinds []string) tea.Cmd {
	return func() tea.Msg {
		msg := folderMsg{asked: asked}
		path, err := atHome(asked)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err == nil {
			msg.path, msg.prefix = path, written(path)
			err = msg.list(kinds)
		}
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err
		}
		msg.err = err
		return msg
	}
}

func (msg *folderMsg) list(kinds []string) error {
	names, err := os.ReadDir(msg.path)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(e fs.DirEntry) bool {
		name := e.Name()
		return strings.HasPrefix(name, ".") || text(name) != name || strings.TrimSpace(name) != name || strings.Contains(name, "\n")
	})
	msg.rest = max(0, len(names)-mostListed)
	for _, e := range names[:len(names)-msg.rest] {
		file := filepath.Join(msg.path, e.Name())
		info, err := os.Stat(file) // of a link's end
		switch {
		case err == nil && info.IsDir():
			msg.all = append(msg.all, listed{name: e.Name(), folder: true})
		case err == nil && info.Mode().IsRegular() && suits(file, kinds):
			msg.all = append(msg.all, listed{name: e.Name(), size: info.Size()})
		default:
			msg.others++
		}
	}
	slices.SortStableFunc(msg.all, func(a, b listed) int {
		if a.folder != b.folder && a.folder {
			return -1
		} else if a.folder != b.folder {
			return 1
		}
		return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
	})
	return nil
}

// suits reports whether a file's content is of one of the kinds. An empty file isn't.
func suits(path string, kinds []string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, form.SniffLen)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	return form.Suits(kinds, form.TypeOf(head[:n]))
}

// written stands before the names of a folder's files in a form: "" for this folder, "~/" for the home
// folder.
func written(path string) string {
	slash := string(filepath.Separator)
	below := func(top string) (string, bool) {
		rest, err := filepath.Rel(top, path)
		return rest, err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+slash)
	}
	if here, err := os.Getwd(); err == nil {
		if rest, ok := below(here); ok && rest == "." {
			return ""
		} else if ok && !strings.HasPrefix(rest, "~") {
			return rest + slash
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		if rest, ok := below(home); ok && rest == "." {
			return "~/"
		} else if ok {
			return "~/" + rest + slash
		}
	}
	return strings.TrimSuffix(path, slash) + slash
}

// atHome reads "~" and "~/" as a shell does.
func atHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok && path != "~" {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil || path == "~" {
		return home, err
	}
	return filepath.Join(home, rest), nil
}
