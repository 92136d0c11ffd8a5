package main

import (
	"fmt"
	"strings"
	"time"

	"unitask/internal/shown"
	"unitask/internal/task"
)

// totals is the count and the cost of the tasks of one run of a batch.
type totals struct {
	states map[task.State]int
	none   int // lines without a task
	cost   task.Money
}

// add counts a line's result. A failed task may have cost something too.
func (s *totals) add(r result) {
	if r.Task == nil {
		s.none++
		return
	}
	if s.states == nil {
		s.states = map[task.State]int{}
	}
	s.states[r.Task.State]++
	if r.Task.Usage == nil {
		return
	}
	if cost, err := task.ParseMoney(r.Task.Usage.Cost.Amount); err == nil {
		s.cost = s.cost.Add(cost)
	}
}

// line says it in one line, "" if no line of the batch came to an end.
func (s *totals) line(elapsed time.Duration) string {
	var counts []string
	add := func(n int, name string) {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, name))
		}
	}
	for _, state := range task.States() {
		add(s.states[state], string(state))
	}
	add(s.none, "not submitted")
	if counts == nil {
		return ""
	}
	return fmt.Sprintf("%s in %s, $%s", strings.Join(counts, ", "), shown.Duration(elapsed), s.cost)
}
