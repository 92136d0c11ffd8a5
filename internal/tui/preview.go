package tui

import (
	"bytes"
	"image"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/picture"
	"unitask/internal/task"
)

// largestPreview is the largest file that is fetched to be looked at, in bytes.
const largestPreview = 32_000_000

// shot is a picture of the task that is open: on its way, here, or not to be had.
type shot struct {
	img           *image.RGBA
	failed        string
	drawn         []string // as it was drawn last
	columns, rows int
}

type pictureMsg struct {
	task, artifact string
	img            *image.RGBA
	err            error
}

// picture fetches a file and decodes it.
func (c calls) picture(id string, a api.Artifact) tea.Cmd {
	return func() tea.Msg {
		raw, err := c.fetch(a)
		if err != nil {
			return pictureMsg{task: id, artifact: a.ID, err: err}
		}
		img, err := picture.Decode(raw)
		return pictureMsg{id, a.ID, img, err}
	}
}

// fetch returns a file's bytes, of which there may be largestPreview.
func (c calls) fetch(a api.Artifact) ([]byte, error) {
	var raw bytes.Buffer
	err := c.files.Fetch(c.ctx, a, &raw)
	return raw.Bytes(), err
}

// hasPreview reports whether a file is a picture that can be looked at here.
func hasPreview(a api.Artifact) bool {
	base, _, _ := strings.Cut(a.ContentType, ";")
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, base)
}

// loadPictures fetches the pictures of the task that is open, once.
func (m *Model) loadPictures(t api.Task) tea.Cmd {
	if m.screen != detailScreen || m.detail.id != t.ID || t.State != task.Succeeded {
		return nil
	}
	var cmds []tea.Cmd
	for _, a := range t.Output.Artifacts() {
		film := isFilm(a) && m.calls.frame != nil
		if !hasPreview(a) && !film || m.detail.shots[a.ID] != nil {
			continue
		}
		if a.Bytes > largestPreview {
			m.detail.shots[a.ID] = &shot{failed: "it is larger than " + api.Size(largestPreview)}
			continue
		}
		m.detail.shots[a.ID] = &shot{}
		if film {
			cmds = append(cmds, m.calls.poster(t.ID, a))
			continue
		}
		cmds = append(cmds, m.calls.picture(t.ID, a))
	}
	return tea.Batch(cmds...)
}

// tookPicture takes a picture of the task that is still open.
func (m *Model) tookPicture(msg pictureMsg) {
	s := m.detail.shots[msg.artifact]
	switch {
	case msg.task != m.detail.id || s == nil:
	case msg.err != nil:
		s.failed = reason(msg.err)
	default:
		s.img = msg.img
	}
}

// pictures returns those that have come, in their order.
func (d *detail) pictures(t api.Task) []image.Image {
	var all []image.Image
	for _, a := range t.Output.Artifacts() {
		if s := d.shots[a.ID]; s != nil && s.img != nil {
			all = append(all, s.img)
		}
	}
	return all
}

// render draws the picture or the reason for its absence.
func (s *shot) render(c canvas, columns, rows int) []string {
	switch {
	case s.failed != "":
		return []string{c.faint.Render(cut("no picture: "+s.failed, columns))}
	case s.img == nil:
		return []string{c.faint.Render("the picture is on its way…")}
	case s.columns != columns || s.rows != rows:
		s.drawn, s.columns, s.rows = picture.Blocks(s.img, columns, rows, c.colours()), columns, rows
	}
	return s.drawn
}
