package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/gateway"
)

// OnePage is onePage of tasks by their ids.
func OnePage(ids []string, next string, limit int, oldestFirst bool) (page []string, _ string) {
	var rows []taskRow
	for _, id := range ids {
		rows = append(rows, taskRow{ID: id})
	}
	rows, next = onePage(rows, next, limit, oldestFirst)
	for _, row := range rows {
		page = append(page, row.ID)
	}
	return page, next
}

// DayStart is dayStart, and DayEnd is dayEnd.
var DayStart, DayEnd = dayStart, dayEnd

// TasksPage is how many tasks a page of the list has.
const TasksPage = smallPage

// SearchFor is after how long a page looks no further.
const SearchFor = searchFor

// Peers is peersOf by the names of capabilities.
func Peers(offers []gateway.Offer, name catalog.Name) (names []string) {
	at := slices.IndexFunc(offers, func(o gateway.Offer) bool { return o.Capability.Name == name })
	for _, p := range peersOf(offers, at) {
		names = append(names, p.Name)
	}
	return names
}

// Shown tells how a page shows an output, a line a part.
func Shown(capability string, o *api.Output) []string {
	r := resultOf(capability, o)
	var all []string
	add := func(ok bool, format string, values ...any) {
		if ok {
			all = append(all, fmt.Sprintf(format, values...))
		}
	}
	if r.Text != nil {
		add(r.Markdown, "markdown %s", *r.Text)
		add(!r.Markdown, "text %s", *r.Text)
	}
	for _, c := range r.Calls {
		all = append(all, strings.TrimSuffix(fmt.Sprintf("call %s %s %s%s", c.Name, c.ID, compact(c.Arguments), map[bool]string{true: " invalid"}[c.Invalid]), " "))
	}
	add(r.Data != "", "data %s", compact(r.Data))
	for name, p := range map[string]*transcript{"segments": r.Segments, "words": r.Words} {
		if p != nil {
			add(true, "%s %d%s", name, len(p.Pieces), map[bool]string{true: " speakers"}[p.Speakers])
		}
	}
	if r.Ranks != nil {
		for _, one := range r.Ranks.Rows {
			add(true, "rank %d %v %v", one.Index, one.Score, one.Share)
		}
	}
	if r.Judged != nil {
		for _, one := range r.Judged.Rows {
			add(true, "judged %t %s %s", one.Flagged, strings.Join(one.Categories, ","), strings.Join(slices.Sorted(maps.Keys(one.Scores)), ","))
		}
		add(true, "ways %s", strings.Join(r.Judged.Ways, ","))
	}
	if v := r.Vectors; v != nil {
		add(v.Count == 1, "%d vectors of %d: %.2f %v", v.Count, v.Dimensions, v.Norm, v.First)
		add(v.Count > 1, "%d vectors of %d: %s", v.Count, v.Dimensions, grid(v))
	}
	add(r.Rest != "", "rest %s", compact(r.Rest))
	add(r.FinishReason != "", "finish %s", r.FinishReason)
	return all
}

func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

func grid(v *vectors) string {
	var rows []string
	for _, row := range v.Rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, fmt.Sprintf("%.2f/%d", cell.Cosine, cell.Step))
		}
		rows = append(rows, strings.Join(cells, " "))
	}
	return strings.Join(rows, "; ")
}

// CSVCell is csvCell.
var CSVCell = csvCell

// AgentOf is agentOf.
func AgentOf(userAgent string) string { return agentOf(userAgent) }

// Sooner is sooner.
var Sooner = sooner
