package main

import (
	"fmt"
	"time"

	"github.com/charmbracelet/lipgloss"

	"unitask/internal/api"
	"unitask/internal/task"
)

// seconds shows a duration to a person: "0.4s", "12s", "3m05s", "2h10m".
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

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
		return cell{human: fmt.Sprintf("in %dd", int(left.Hours())/24), plain: stamp(at)}
	}
	if at.After(now) {
		return cell{human: "in " + seconds(at.Sub(now)), plain: stamp(at)}
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
