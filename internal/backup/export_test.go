package backup

import (
	"io"
	"time"
)

// Names reads an archive and returns, with its manifest, the names that Unpack would write.
func Names(r io.Reader) ([]string, Manifest, error) {
	var seen names
	m, err := read(r, &seen)
	return seen, m, err
}

type names []string

func (n *names) create(name string, _ time.Time) (io.WriteCloser, error) {
	*n = append(*n, name)
	return nothing{}, nil
}
