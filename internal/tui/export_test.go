package tui

import (
	"image"

	"unitask/internal/api"

	tea "github.com/charmbracelet/bubbletea"
)

// Internals for the tests in tui_test.
var (
	Text  = text
	Line  = line
	Cells = cells
)

// Editor is an editor with its rows.
type Editor struct{ editor }

// NewEditor returns an empty editor that takes line ends.
func NewEditor() *Editor { return &Editor{editor{lines: true}} }

// Key gives it a key.
func (e *Editor) Key(msg tea.KeyMsg, width int) bool { return e.key(msg, width) }

// Value is the entered text.
func (e *Editor) Value() string { return e.value() }

// Render draws it with its cursor.
func (e *Editor) Render(width, height int, s Style) []string { return e.render(width, height, true, s) }

// Cursor is the cluster that the cursor stands before, and how many there are.
func (e *Editor) Cursor() (at, count int) { return e.at, len(e.clusters) }

// Pictures are to be shown after the end.
func Pictures(m *Model) []image.Image { return m.pictures }

// Fits rates how well one typed word fits a text.
func Fits(typed, text string) (int, bool) { return fits([]string{typed}, text) }

// Capabilities are those of the directory.
func Capabilities(m *Model) []api.Capability { return m.directory.all }
