package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// mostOffered is how many of the newest tasks the palette looks through.
const mostOffered = 1000

// offer is one choice of the palette.
type offer struct {
	words string // its name
	about string // more of it, where there is room
	keys  string // that do the same, or its kind
	do    func() tea.Cmd
}

// palette is a list of all that can be done from here, narrowed by typed words. It is made when it is opened:
// later changes aren't in it.
type palette struct {
	head   string
	offers []offer
	typed  editor
	shown  []offer // those that fit the typed words, the best first
	cursor int
}

// openPalette shows the palette of the current screen.
func (m *Model) openPalette() {
	m.palette = newPalette("Go to, or do", slices.Concat(
		m.offeredKeys(), m.offeredScreens(), m.offeredFilters(), m.offeredForms(), m.offeredTasks(), m.offeredProfiles(), m.offeredOrders(),
	))
}

func newPalette(head string, offers []offer) *palette {
	return &palette{head: head, offers: offers, shown: offers}
}

// narrow takes the typed words.
func (p *palette) narrow() {
	words := strings.Fields(strings.ToLower(p.typed.value()))
	p.shown, p.cursor = p.offers, 0
	if len(words) == 0 {
		return
	}
	type ranked struct {
		offer
		rank int
	}
	var fit []ranked
	for _, o := range p.offers {
		if rank, ok := fits(words, o.words+" "+o.about); ok {
			fit = append(fit, ranked{o, rank})
		}
	}
	slices.SortStableFunc(fit, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	p.shown = nil
	for _, r := range fit {
		p.shown = append(p.shown, r.offer)
	}
}

// paletteKey takes a key while the palette is open. Named keys move, others narrow the list.
func (m *Model) paletteKey(msg tea.KeyMsg) tea.Cmd {
	p := m.palette
	switch k := msg.String(); k {
	case "esc", paletteKey:
		m.palette = nil
	case "up", "down", "pgup", "pgdown", "home", "end", "ctrl+p", "ctrl+n":
		p.cursor = move(k, p.cursor, len(p.shown), m.bodyHeight())
	case "enter":
		return m.take(p.cursor)
	default:
		if p.typed.key(msg, m.width) {
			p.narrow()
		}
	}
	return nil
}

// take accepts an offer.
func (m *Model) take(at int) tea.Cmd {
	if at >= len(m.palette.shown) {
		return nil
	}
	chosen := m.palette.shown[at]
	m.palette = nil
	return chosen.do()
}

// Render draws the typed words, the offers around the cursor and their keys.
func (p *palette) Render(c canvas, width, height int) string {
	typed := strings.Join(p.typed.render(max(4, width-4), 1, true, c.Style), "")
	if p.typed.empty() {
		typed += c.faint.Render(" type a few letters")
	}
	lines := []string{c.rule(p.head, width), c.accent.Render(" › ") + typed}
	if len(p.shown) == 0 {
		return strings.Join(append(lines, " "+c.faint.Render("no such thing here")), "\n")
	}
	room := max(1, height-len(lines))
	columns := p.columns(width)
	first := firstShown(p.cursor, len(p.shown), room)
	for i := first; i < min(first+room, len(p.shown)); i++ {
		o := p.shown[i]
		drawn := row(columns, line(o.words), line(o.about), o.keys)
		lines = append(lines, c.selected(drawn, i == p.cursor))
	}
	return strings.Join(lines, "\n")
}

// columns are those of the name, of more about it, and of the keys.
func (p *palette) columns(width int) []int {
	const most, narrowest = 44, 12
	keys, name := 0, 0
	for _, o := range p.offers {
		keys, name = max(keys, cells(o.keys)), max(name, cells(line(o.words)))
	}
	left := max(4, width-markWidth-keys-2)
	name = min(name, most)
	if left < name+narrowest+2 {
		return []int{left, 0, keys}
	}
	return []int{name, left - name - 2, keys}
}

// at returns the offer that stands in a row below the two of the head; -1 without one.
func (p *palette) at(row, height int) int {
	at := firstShown(p.cursor, len(p.shown), max(1, height-2)) + row - 2
	if row < 2 || at >= len(p.shown) {
		return -1
	}
	return at
}
