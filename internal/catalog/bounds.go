package catalog

import "strconv"

// Bounds returns the range of a number for people, such as "1 to 4"; "" if unbounded.
func (f Field) Bounds() string {
	show := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch {
	case f.Minimum != nil && f.Maximum != nil:
		return show(*f.Minimum) + " to " + show(*f.Maximum)
	case f.Minimum != nil:
		return "at least " + show(*f.Minimum)
	case f.Maximum != nil:
		return "at most " + show(*f.Maximum)
	default:
		return ""
	}
}
