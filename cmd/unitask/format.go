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

// size shows a number of bytes in powers of ten.
func size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < 3 {
		value, prefix = value/unit, prefix+1
	}
	return fmt.Sprintf("%.1f %cB", value, "kMGT"[prefix])
}

// stamp is a time as a program reads it, "" for none.
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

// price shows what a capability costs.
func price(p api.Price) string {
	if p.Input == "0" && p.Output == "0" {
		return "free"
	}
	switch p.Unit {
	case task.PerMillionTokens:
		return fmt.Sprintf("$%s in, $%s out / M tokens", p.Input, p.Output)
	case task.PerImage:
		return "$" + either(p) + " / image"
	case task.PerSecond:
		return "$" + either(p) + " / second"
	case task.PerMillionCharacters:
		return "$" + either(p) + " / M characters"
	default:
		return "$" + either(p)
	}
}

// either returns the side of a price that isn't zero; a unit with one count adds both.
func either(p api.Price) string {
	in, err1 := task.ParseMoney(p.Input)
	out, err2 := task.ParseMoney(p.Output)
	if err1 != nil || err2 != nil {
		return p.Output
	}
	return in.Add(out).String()
}
