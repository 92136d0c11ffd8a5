package tui

import (
	"bytes"
	"context"
	"image"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"unitask/internal/api"
	"unitask/internal/picture"
	"unitask/internal/task"
)

// largestPreview is the largest file that is fetched to be looked at, in bytes.
const largestPreview = 32_000_000

// gallery is the pictures of the task that is looked at: the one that is open, or the selected one beside the table.
type gallery struct {
	task  string           // "" without one
	shots map[string]*shot // by their ids, those that were asked for
	calls calls            // for this task alone: they end once another is looked at
	end   context.CancelFunc
}

// shot is a picture of the task that is looked at: on its way, here, or not to be had.
type shot struct {
	img    *image.RGBA
	failed string
	drawn  drawing // as it was drawn last
}

// drawing is a picture in lines of characters, and the room that they were drawn for.
type drawing struct {
	lines []string
	room  image.Point // columns and rows; zero if it wasn't drawn yet
}

type pictureMsg struct {
	shot  *shot
	img   *image.RGBA
	drawn drawing
	err   error
}

// picture fetches a file, decodes it, and draws it if the room for it is known.
func (c calls) picture(s *shot, a api.Artifact, room image.Point, colours termenv.Profile) tea.Cmd {
	return func() tea.Msg {
		raw, err := c.fetch(a)
		if err == nil && isFilm(a) {
			raw, err = c.frame(c.ctx, raw)
		}
		if err != nil {
			return pictureMsg{shot: s, err: err}
		}
		msg := pictureMsg{shot: s}
		if msg.img, msg.err = picture.Decode(raw); msg.err == nil && room != (image.Point{}) {
			msg.drawn = draw(msg.img, room, colours)
		}
		return msg
	}
}

func draw(img *image.RGBA, room image.Point, colours termenv.Profile) drawing {
	return drawing{picture.Blocks(img, room.X, room.Y, colours), room}
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

// galleryOf returns the pictures of a task, and lets go of those of another one. One that failed may be asked for again.
func (m *Model) galleryOf(id string) map[string]*shot {
	if m.gallery.task != id {
		m.gallery.close()
		ctx, end := context.WithCancel(m.calls.ctx)
		m.gallery = gallery{id, map[string]*shot{}, calls{ctx, m.calls.service, m.calls.files, m.calls.frame}, end}
	}
	maps.DeleteFunc(m.gallery.shots, func(_ string, s *shot) bool { return s.failed != "" })
	return m.gallery.shots
}

// close ends what is on its way.
func (g *gallery) close() {
	if g.end != nil {
		g.end()
	}
	*g = gallery{}
}

// pictured reports whether a result has something to look at here.
func (m *Model) pictured(a api.Artifact) bool {
	return hasPreview(a) || isFilm(a) && m.calls.frame != nil
}

// renew reads a task that has ended once more, as its addresses expire, and then its pictures.
func (m *Model) renew(id string) tea.Cmd {
	l := m.loopOf(id)
	if l.phase == resting && !m.now.Before(l.started.Add(l.gap)) {
		return m.round(id)
	}
	return m.loadPictures(m.known(id))
}

// loadPictures fetches the pictures of the task that is looked at, once.
func (m *Model) loadPictures(t api.Task) tea.Cmd {
	g := &m.gallery
	if g.task != t.ID || t.State != task.Succeeded {
		return nil
	}
	var cmds []tea.Cmd
	for _, a := range t.Output.Artifacts() {
		if !m.pictured(a) || g.shots[a.ID] != nil {
			continue
		}
		s := &shot{}
		g.shots[a.ID] = s
		if a.Bytes > largestPreview {
			s.failed = "it is larger than " + api.Size(largestPreview)
			continue
		}
		cmds = append(cmds, g.calls.picture(s, a, m.besideRoom(), m.drawing().colours()))
	}
	return tea.Batch(cmds...)
}

// took takes a picture. That of a task that isn't looked at any more is in no gallery.
func (msg pictureMsg) took() {
	if msg.err != nil {
		msg.shot.failed = reason(msg.err)
		return
	}
	msg.shot.img, msg.shot.drawn = msg.img, msg.drawn
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
	room := image.Pt(columns, rows)
	switch {
	case s.failed != "":
		return []string{c.faint.Render(cut("no picture: "+s.failed, columns))}
	case s.img == nil:
		return []string{c.faint.Render(cut("the picture is on its way…", columns))}
	case s.drawn.room != room:
		s.drawn = draw(s.img, room, c.colours())
	}
	return s.drawn.lines
}
