package console

import (
	"fmt"
	"strconv"
	"strings"

	"unitask/internal/api"
)

// chart is stacked bars, or lines, over days or hours. The page has the same numbers in a table, by which a script shows
// those under a pointer, or at a cursor that the arrow keys move.
type chart struct {
	Title   string
	Of      string // "Day" or "Hour"
	Top     string // the value of the highest line
	Series  []series
	Columns []string // of the table, beside those of the series
	Bars    []bar
	Lines   []line
	Gap     string // the width of the part at the left that isn't counted; "" without
	Ticks   []string
	Rows    []chartRow
}

// series is one value of every bar, or a line.
type series struct{ Name, Class string }

// chartRow is a slot's numbers as text.
type chartRow struct {
	Slot   string
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

// line is a path of steps, one for each slot that has a value.
type line struct{ Class, Path string }

const (
	chartWidth  = 1000
	chartHeight = 160
	barShare    = 0.72 // of a slot's width
	chartTicks  = 5
	// mostSeries is how many groups a stack tells apart: the others are one part.
	mostSeries = 5
)

// slot is a day or an hour on an axis.
type slot struct {
	Name, Short string // in the table, and on the axis
	Unknown     bool   // it isn't counted
}

// notCounted stands for the values of a slot about which nothing is known.
const notCounted = "not counted"

func newChart(title, of string, slots []slot, all []series) chart {
	c := chart{Title: title, Of: of, Series: all}
	for _, s := range slots {
		c.Rows = append(c.Rows, chartRow{Slot: s.Name})
	}
	unknown := 0
	for unknown < len(slots) && slots[unknown].Unknown {
		unknown++
	}
	if unknown > 0 {
		c.Gap = px(chartWidth * float64(unknown) / float64(len(slots)))
	}
	for i := range min(chartTicks, len(slots)) {
		c.Ticks = append(c.Ticks, slots[i*(len(slots)-1)/max(min(chartTicks, len(slots))-1, 1)].Short)
	}
	return c
}

// stack draws bars of the values of each slot; written says how one is written in the table.
func (c *chart) stack(slots []slot, values [][]float64, least float64, written func(float64) string) {
	top := least
	for _, parts := range values {
		top = max(top, sumOf(parts))
	}
	top = round(top)
	c.Top = written(top)
	width := float64(chartWidth) / float64(max(1, len(values)))
	for i, parts := range values {
		b := bar{X: px(float64(i)*width + width*(1-barShare)/2), W: px(width * barShare), Text: c.Rows[i].Slot + ":"}
		at := float64(chartHeight)
		for n, value := range parts {
			c.write(slots, i, n, written(value), &b.Text)
			if value > 0 {
				height := max(1.5, value/top*chartHeight)
				at -= height
				b.Parts = append(b.Parts, part{c.Series[n].Class, px(at), px(height)})
			}
		}
		c.Bars = append(c.Bars, b)
	}
}

// write adds a value to the table and to the text of its bar.
func (c *chart) write(slots []slot, i, n int, text string, beside *string) {
	if slots[i].Unknown {
		text = notCounted
	}
	c.Rows[i].Values = append(c.Rows[i].Values, text)
	*beside += " " + text + " " + strings.ToLower(c.Series[n].Name)
}

// steps draws lines; a value below zero isn't known. The table may have columns without a line: those of more values.
func (c *chart) steps(slots []slot, values [][]float64, least float64, written func(float64) string) {
	top := least
	for _, at := range values {
		for _, v := range at {
			top = max(top, v)
		}
	}
	top = round(top)
	c.Top = written(top)
	width := float64(chartWidth) / float64(max(1, len(values)))
	for n := range c.Series {
		var path strings.Builder
		drawn := false
		for i, at := range values {
			if at[n] < 0 || slots[i].Unknown {
				drawn = false
				continue
			}
			y := px(chartHeight - 1 - at[n]/top*(chartHeight-2))
			if !drawn {
				fmt.Fprintf(&path, "M%s %s", px(float64(i)*width), y)
			}
			fmt.Fprintf(&path, "V%sH%s", y, px(float64(i+1)*width))
			drawn = true
		}
		c.Lines = append(c.Lines, line{c.Series[n].Class, path.String()})
	}
	for i, at := range values {
		text := c.Rows[i].Slot + ":"
		for n, v := range at {
			known := "–"
			if v >= 0 {
				known = written(v)
			}
			c.write(slots, i, n, known, &text)
		}
		c.Bars = append(c.Bars, bar{X: px(float64(i) * width), W: px(width), Text: text})
	}
}

// First and Last name the ends of the axis.
func (c chart) First() string { return c.end(0) }

// Last is described at First.
func (c chart) Last() string { return c.end(len(c.Rows) - 1) }

func (c chart) end(i int) string {
	if len(c.Rows) == 0 {
		return ""
	}
	return c.Rows[i].Slot
}

var outcomes = []series{{"Succeeded", "s1"}, {"Failed", "s2"}, {"Canceled", "s3"}}

func daysOf(rows []api.UsageRow) []slot {
	slots := make([]slot, 0, len(rows))
	for _, r := range rows {
		slots = append(slots, slot{Name: r.Group, Short: shortDay(r.Group)})
	}
	return slots
}

func tasksChart(rows []api.UsageRow) chart {
	slots := daysOf(rows)
	c := newChart("Tasks that ended, by day", "Day", slots, outcomes)
	values := make([][]float64, 0, len(rows))
	for _, r := range rows {
		values = append(values, []float64{float64(r.Succeeded), float64(r.Failed), float64(r.Canceled)})
	}
	c.stack(slots, values, 1, whole)
	return c
}

func spendChart(rows []api.UsageRow) chart {
	slots := daysOf(rows)
	c := newChart("Cost by day", "Day", slots, []series{{"Cost", "s1"}})
	values := make([][]float64, 0, len(rows))
	for _, r := range rows {
		values = append(values, []float64{float64(amount(r.Cost))})
	}
	c.stack(slots, values, leastMoney, dollars)
	return c
}

// leastMoney is a nano-dollar: the height of a chart without any.
const leastMoney = 1

func whole(v float64) string { return count(int64(v)) }

// dollars writes nano-dollars.
func dollars(v float64) string {
	if v <= leastMoney {
		v = 0
	}
	return money(strconv.FormatFloat(v/1e9, 'f', -1, 64))
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
