package tui

import (
	"context"
	"errors"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/form"
)

// Uploader is a Service that takes large files ahead of tasks. client.ErrNoUploads means that this one doesn't after all.
type Uploader interface {
	Upload(ctx context.Context, f client.File, onProgress func(sent int64)) (api.Upload, error)
}

// aheadFrom is above how many bytes a file goes ahead of its task.
const aheadFrom = 1 << 20

// drawnEvery is how often the way of a file is drawn.
const drawnEvery = 200 * time.Millisecond

// aheadMsg says how much of a form's file has gone ahead; the next message comes from the same channel.
type aheadMsg struct {
	capability string
	sent, all  int64
	from       <-chan tea.Msg
}

// preparation reads the files of one draft.
type preparation struct {
	calls

	capability string
	messages   chan tea.Msg
	told       time.Time
}

// prepare returns the command that reads a draft's files, sends large ones ahead and writes its request.
func (c calls) prepare(d draft) tea.Cmd {
	return func() tea.Msg {
		p := &preparation{calls: c, capability: d.capability, messages: make(chan tea.Msg)}
		go func() {
			defer close(p.messages)
			p.tell(p.request(d))
		}()
		return nextOf(p.messages)()
	}
}

func nextOf(from <-chan tea.Msg) tea.Cmd {
	return func() tea.Msg { return <-from }
}

func (p *preparation) tell(msg tea.Msg) {
	select {
	case p.messages <- msg:
	case <-p.ctx.Done():
	}
}

// wentAhead takes how much of a form's file has been sent.
func (m *Model) wentAhead(msg aheadMsg) tea.Cmd {
	m.forms[msg.capability].ahead = api.Size(msg.sent) + " of " + api.Size(msg.all)
	return nextOf(msg.from)
}

// medium returns a file's medium: its artifact if it is large, else its bytes. contentType is of either.
func (p *preparation) medium(f file) (medium map[string]any, contentType string, err error) {
	if id, contentType, err := p.ahead(f); id != "" || err != nil {
		return map[string]any{"artifact": id}, contentType, err
	}
	raw, err := f.read()
	if err != nil {
		return nil, "", err
	}
	medium = form.Inline(raw)
	contentType, _ = medium["content_type"].(string)
	return medium, contentType, nil
}

// ahead sends a large file ahead; "" if it has to stand in the request.
func (p *preparation) ahead(f file) (id, contentType string, err error) {
	service, ok := p.service.(Uploader)
	path, wrong := atHome(f.path)
	info, missing := os.Stat(path)
	if !ok || wrong != nil || missing != nil || !info.Mode().IsRegular() || info.Size() <= aheadFrom {
		return "", "", nil // whoever reads it says why it can't be
	}
	open, err := os.Open(path)
	if err != nil {
		return "", "", nil
	}
	defer func() { _ = open.Close() }()
	if contentType, err = form.FileType(path, open); err != nil {
		return "", "", nil
	}
	u, err := service.Upload(p.ctx, client.File{ReaderAt: open, Bytes: info.Size(), ContentType: contentType}, func(sent int64) {
		if now := time.Now(); now.Sub(p.told) >= drawnEvery || sent == info.Size() {
			p.told = now
			p.tell(aheadMsg{p.capability, sent, info.Size(), p.messages})
		}
	})
	if errors.Is(err, client.ErrNoUploads) {
		return "", "", nil
	}
	if err != nil {
		return "", "", errors.New(f.path + ": " + words(err))
	}
	return u.Artifact, contentType, nil
}
