package console

import (
	"slices"

	"unitask/internal/catalog"
	"unitask/internal/gateway"
)

// OnePage is onePage of tasks by their ids.
func OnePage(ids []string, next string, limit int) (page []string, _ string) {
	var rows []taskRow
	for _, id := range ids {
		rows = append(rows, taskRow{ID: id})
	}
	rows, next = onePage(rows, next, limit)
	for _, row := range rows {
		page = append(page, row.ID)
	}
	return page, next
}

// TasksPage is how many tasks a page of the list has.
const TasksPage = tasksPage

// Peers is peersOf by the names of capabilities.
func Peers(offers []gateway.Offer, name catalog.Name) (names []string) {
	at := slices.IndexFunc(offers, func(o gateway.Offer) bool { return o.Capability.Name == name })
	for _, p := range peersOf(offers, at) {
		names = append(names, p.Name)
	}
	return names
}
