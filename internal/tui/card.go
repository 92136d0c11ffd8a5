package tui

import (
	"fmt"
	"strings"
	"time"

	"unitask/internal/api"
)

const (
	cardWidth  = 28 // columns of a card
	cardHeight = 9  // rows, at most
)

// isFilm and isSound report whether a file is one.
func isFilm(a api.Artifact) bool  { return strings.HasPrefix(a.ContentType, "video/") }
func isSound(a api.Artifact) bool { return strings.HasPrefix(a.ContentType, "audio/") }

// card draws a film or a sound without a picture: a frame in the film's proportions with its length.
func card(c canvas, a api.Artifact, columns, rows int) []string {
	words := "♪"
	if isFilm(a) {
		words = "▶"
	}
	if a.Duration != nil {
		words += " " + clockLength(*a.Duration)
	}
	width := min(cardWidth, columns-2)
	height := 1
	if isFilm(a) && a.Width != nil && a.Height != nil && *a.Width > 0 && *a.Height > 0 {
		height = min(cardHeight, max(1, int(float64(width)*float64(*a.Height)/float64(*a.Width)/2)))
		width = min(width, max(cells(words)+2, int(float64(2*height)*float64(*a.Width)/float64(*a.Height))))
	}
	height = min(height, rows-2)
	if height < 1 || width < cells(words)+2 {
		return []string{c.accent.Render(cut(words, columns))}
	}
	lines := []string{c.faint.Render("╭" + strings.Repeat("─", width) + "╮")}
	for i := range height {
		inside := strings.Repeat(" ", width)
		if i == height/2 {
			left := (width - cells(words)) / 2
			inside = strings.Repeat(" ", left) + c.accent.Render(words) + strings.Repeat(" ", width-left-cells(words))
		}
		lines = append(lines, c.faint.Render("│")+inside+c.faint.Render("│"))
	}
	return append(lines, c.faint.Render("╰"+strings.Repeat("─", width)+"╯"))
}

// clockLength is a length as players show it: 0:05.
func clockLength(seconds float64) string {
	const most = 360_000 // a hundred hours
	d := time.Duration(max(0, min(seconds, most))*float64(time.Second)) + time.Second/2
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%d:%02d", m, s)
}
