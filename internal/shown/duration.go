package shown

import (
	"fmt"
	"time"
)

// Duration shows a duration to a person, with tenths only of a few seconds: "0.4s", "12s", "3m05s", "2h10m". A
// negative one is shown as zero.
func Duration(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}
