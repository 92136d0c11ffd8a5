package tui

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"unitask/internal/api"
	"unitask/internal/form"
)

const maxFile = 64 << 20 // bytes; the service's own limit is lower

var errTooLarge = fmt.Errorf("larger than %s", api.Size(maxFile))

// draft is a filled form before its files are read.
type draft struct {
	capability string
	label      string
	values     []given
}

// given is one value of a draft.
type given struct {
	form.Entry
	prompt string // of files beside a prompt: its name
	value  any    // files may be in it
}

// preparedMsg is a request ready to be sent, or the error of its files.
type preparedMsg struct {
	capability string
	label      string
	request    api.CreateRequest
	attached   form.Attached
	problems   map[string]string // by the entry's wire name
}

// request reads a draft's files and writes its request.
func (p *preparation) request(d draft) preparedMsg {
	msg := preparedMsg{capability: d.capability, label: d.label, problems: map[string]string{}}
	values := form.Values{}
	var beside given
	for _, g := range d.values {
		if g.prompt != "" {
			beside = g // once the rest is there
			continue
		}
		v, err := p.load(g.value)
		if err != nil {
			msg.problems[g.Wire()] = err.Error()
			continue
		}
		values.Put(g.Field.Group, g.Path, v)
	}
	if beside.value != nil {
		p.attach(&msg, values, beside)
	}
	if len(msg.problems) == 0 {
		msg.request, _ = values.Request(d.capability) // of strings and of JSON that was read
	}
	return msg
}

// attach puts the files that go along with a prompt or a message into the request.
func (p *preparation) attach(msg *preparedMsg, values form.Values, g given) {
	parts, err := p.partsOf(g)
	if err != nil {
		msg.problems[g.Wire()] = err.Error()
		return
	}
	if msg.attached, err = values.Attach(g.Path[0], g.prompt, parts); err != nil {
		msg.problems[g.Field.Group+"."+g.Path[0]] = err.Error()
	}
}

// partsOf reads files as parts of a message.
func (p *preparation) partsOf(g given) ([]any, error) {
	all, _ := g.value.([]any)
	parts := make([]any, len(all))
	for i := range all {
		one, _ := all[i].(file) // no other value is taken there
		medium, contentType, err := p.medium(one)
		if err != nil {
			return nil, err
		}
		part, kind := form.PartOf(one.path, map[string]any{"content_type": contentType})
		if !slices.Contains(g.Kinds, kind) {
			return nil, fmt.Errorf("%s is no %s", one.path, form.AnyOf(g.Kinds))
		}
		if medium["artifact"] != nil {
			part[kind] = medium
		} else {
			part, _ = form.PartOf(one.path, medium)
		}
		parts[i] = part
	}
	return parts, nil
}

// load replaces files by their contents.
func (p *preparation) load(value any) (any, error) {
	switch v := value.(type) {
	case file:
		medium, _, err := p.medium(v)
		return medium, err
	case jsonFile:
		raw, err := file(v).read()
		if err != nil {
			return nil, err
		}
		value, err := form.ReadJSON(string(raw))
		if err != nil {
			return nil, fmt.Errorf("%s %w", v.path, err)
		}
		return value, nil
	case []any:
		items := make([]any, len(v))
		for i := range v {
			var err error
			if items[i], err = p.load(v[i]); err != nil {
				return nil, err
			}
		}
		return items, nil
	default:
		return value, nil
	}
}

func (f file) read() ([]byte, error) {
	raw, err := readFile(f.path)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	switch {
	case errors.Is(err, errTooLarge):
		return nil, fmt.Errorf("%s is %w", f.path, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.path, err)
	case len(raw) == 0:
		return nil, fmt.Errorf("%s is empty", f.path)
	}
	return raw, nil
}

// readFile reads a regular file: another kind might never end.
func readFile(path string) ([]byte, error) {
	path, err := atHome(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("is no regular file")
	case info.Size() > maxFile:
		return nil, errTooLarge
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(raw) > maxFile {
		return nil, errTooLarge // it has grown meanwhile
	}
	return raw, err
}
