package openai

import (
	"fmt"
	"math"
	"strings"

	"unitask/internal/supplier"
)

const webVTT = "vtt"

// subtitles writes the lines as SubRip or WebVTT.
func subtitles(format string, lines []supplier.Segment) string {
	var b strings.Builder
	point := ","
	if format == webVTT {
		b.WriteString("WEBVTT\n\n")
		point = "."
	}
	for i, line := range lines {
		if format != webVTT {
			fmt.Fprintf(&b, "%d\n", i+1)
		}
		// A blank line would end the cue, an arrow would begin another.
		text := strings.ReplaceAll(strings.Join(strings.Fields(line.Text), " "), "-->", "->")
		fmt.Fprintf(&b, "%s --> %s\n%s\n\n", clock(line.Start, point), clock(line.End, point), text)
	}
	return b.String()
}

// clock writes seconds as hours, minutes, seconds and, after the point, milliseconds.
func clock(seconds float64, point string) string {
	ms := int64(math.Round(seconds * 1000))
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, point, ms%1000)
}
