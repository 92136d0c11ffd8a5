package tui

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/form"
)

const maxFile = 64 << 20 // bytes; the service's own limit is lower

// draft is a filled form before its files are read.
type draft struct {
	capability string
	label      string
	values     []given
}

// given is one value of a draft; its name is the entry's.
type given struct {
	name  string
	group string
	path  []string
	value any // files may be in it
}

// preparedMsg is a request ready to be sent, or the error of its files.
type preparedMsg struct {
	capability string
	label      string
	request    api.CreateRequest
	problems   map[string]string // by the entry's wire name
}

// prepare returns the command that reads a draft's files and writes its request.
func prepare(d draft) tea.Cmd {
	return func() tea.Msg {
		msg := preparedMsg{capability: d.capability, label: d.label, problems: map[string]string{}}
		values := form.Values{}
		for _, g := range d.values {
			v, err := load(g.value)
			if err != nil {
				msg.problems[g.name] = err.Error()
				continue
			}
			values.Put(g.group, g.path, v)
		}
		if len(msg.problems) == 0 {
			msg.request, _ = values.Request(d.capability) // of strings and of JSON that was read
		}
		return msg
	}
}

// load replaces files by their contents.
func load(value any) (any, error) {
	switch v := value.(type) {
	case file:
		return v.read()
	case []any:
		items := make([]any, len(v))
		for i := range v {
			var err error
			if items[i], err = load(v[i]); err != nil {
				return nil, err
			}
		}
		return items, nil
	default:
		return value, nil
	}
}

func (f file) read() (any, error) {
	raw, err := readFile(f.path)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.path, err)
	case len(raw) == 0:
		return nil, fmt.Errorf("%s is empty", f.path)
	case len(raw) > maxFile:
		return nil, fmt.Errorf("%s is larger than %s", f.path, api.Size(maxFile))
	}
	return form.Inline(raw), nil
}

// readFile reads a regular file: another kind might never end. "~/" is the home folder, as a shell
// has it.
func readFile(path string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		path = filepath.Join(home, rest)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}
