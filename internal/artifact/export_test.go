package artifact

import (
	"bytes"
	"io"
)

// Internals for the tests.
var (
	CheckRedirect = checkRedirect
	IsFull        = isFull
)

// Measure is measure over bytes.
func Measure(b []byte, kind string) (width, height int, seconds float64) {
	return measure(bytes.NewReader(b), int64(len(b)), kind)
}

// MeasureAt is measure.
func MeasureAt(r io.ReaderAt, size int64, kind string) { measure(r, size, kind) }

// Control is the decision of a dialer with that allowance about an address.
func Control(allow []string, address string) error {
	a, err := parseAllow(allow)
	if err != nil {
		return err
	}
	return a.control("tcp", address, nil)
}

// Types returns every content type that is kept.
func Types() (media, text []string) { return mediaTypes, textTypes }

// LimitSweeps sets how many objects the folder's agenda takes and how many files a sweep looks at.
func LimitSweeps(f *Folder, due, part int) { f.agenda.most, f.sweeper.part = due, part }
