package console

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
