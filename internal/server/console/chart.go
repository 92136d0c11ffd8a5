package console

import (
	"strconv"
	"strings"

	"unitask/internal/api"
)

// chart is bars over days. The page has the same numbers in a table.
type chart struct {
	Title  string
	Top    string // the value of the highest line
	Bars   []bar
	First  string // day
	Last   string
	Series []string
	Rows   []chartRow
}

// chartRow is a bar's numbers as text.
type chartRow struct {
	Day    string
	Values []string
}

// bar is a stack of parts in a field of chartWidth by chartHeight.
type bar struct {
	Text  string // the text under a pointer
	X, W  string
	Parts []part
}

// part is a rectangle of a bar.
type part struct {
	Class string
	Y, H  string
}

const (
	chartWidth  = 1000
	chartHeight = 160
	barShare    = 0.72 // of a day's width
)

func tasksChart(rows []api.UsageRow) chart {
	c := chart{Title: "Tasks that ended, by day", Series: []string{"Succeeded", "Failed", "Canceled"}}
	values := make([][]float64, 0, len(rows))
	for _, r := range rows {
		values = append(values, []float64{float64(r.Succeeded), float64(r.Failed), float64(r.Canceled)})
		c.Rows = append(c.Rows, chartRow{r.Group, []string{count(r.Succeeded), count(r.Failed), count(r.Canceled)}})
	}
	top := c.draw(values, 1)
	c.Top = count(int64(top))
	return c
}

func spendChart(rows []api.UsageRow) chart {
	c := chart{Title: "Cost by day", Series: []string{"Cost"}}
	values := make([][]float64, 0, len(rows))
	for _, r := range rows {
		values = append(values, []float64{float64(amount(r.Cost))})
		c.Rows = append(c.Rows, chartRow{r.Group, []string{money(r.Cost)}})
	}
	const least = 1 // nano-dollar
	if top := c.draw(values, least); top > least {
		c.Top = money(strconv.FormatFloat(top/1e9, 'f', -1, 64))
	} else {
		c.Top = money("0")
	}
	return c
}

// draw makes the bars and returns the value of the highest line.
func (c *chart) draw(values [][]float64, least float64) float64 {
	top := least
	for _, parts := range values {
		top = max(top, sumOf(parts))
	}
	top = round(top)
	width := float64(chartWidth) / float64(max(1, len(values)))
	for i, parts := range values {
		b := bar{X: px(float64(i)*width + width*(1-barShare)/2), W: px(width * barShare), Text: c.Rows[i].Day + ":"}
		at := float64(chartHeight)
		for n, value := range parts {
			b.Text += " " + c.Rows[i].Values[n] + " " + strings.ToLower(c.Series[n])
			if value > 0 {
				height := max(1.5, value/top*chartHeight)
				at -= height
				b.Parts = append(b.Parts, part{"s" + strconv.Itoa(n+1), px(at), px(height)})
			}
		}
		c.Bars = append(c.Bars, b)
	}
	if len(c.Rows) > 0 {
		c.First, c.Last = shortDay(c.Rows[0].Day), shortDay(c.Rows[len(c.Rows)-1].Day)
	}
	return top
}

func sumOf(parts []float64) (sum float64) {
	for _, p := range parts {
		sum += p
	}
	return sum
}

// round returns the next of 1, 2, 5, 10, 20, … times a power of ten.
func round(top float64) float64 {
	scale := 1.0
	for ; scale*10 <= top; scale *= 10 {
	}
	for ; scale > top; scale /= 10 {
	}
	for _, step := range []float64{1, 2, 5} {
		if top <= step*scale {
			return step * scale
		}
	}
	return 10 * scale
}

func px(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
