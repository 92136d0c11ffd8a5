package main

import (
	"fmt"
	"time"

	"github.com/charmbracelet/lipgloss"

	"unitask/internal/api"
	"unitask/internal/shown"
	"unitask/internal/task"
)

// age shows how long ago something was.
func age(at, now time.Time) string {
	d := now.Sub(at)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	default:
		return at.Local().Format("2 Jan 2006")
	}
}

// stamp is a time as a program reads it, "" without one.
func stamp(at *api.Timestamp) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

// when is a time as both read it.
func when(at *api.Timestamp, now time.Time) cell {
	if at == nil {
		return cell{human: "–"}
	}
	if left := at.Sub(now); left >= 48*time.Hour {
		return cell{human: fmt.Sprintf("in %dd", left.Round(24*time.Hour)/(24*time.Hour)), plain: stamp(at)}
	}
	if at.After(now) {
		return cell{human: "in " + shown.Duration(at.Sub(now)), plain: stamp(at)}
	}
	return cell{human: age(at.Time, now), plain: stamp(at)}
}

func percent(p *float64) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%d%%", int(*p*100))
}

// stateStyle is the colour of a state.
func (s styles) state(state task.State) lipgloss.Style {
	switch state {
	case task.Succeeded:
		return s.good
	case task.Failed, task.Canceled:
		return s.bad
	case task.Queued:
		return s.faint
	default:
		return s.busy
	}
}
