package backup

import (
	"io"
	"time"
)

// Names reads an archive and returns, with its manifest, the names that Unpack would write.
func Names(r io.Reader) ([]string, Manifest, error) {
	var seen names
	entries, err := read(r, &seen, Terms{Unsealed: true})
	if err != nil {
		return seen, Manifest{}, err
	}
	return seen, entries.manifest, nil
}

type names []string

func (n *names) create(name string, _ int64, _ time.Time) (io.WriteCloser, error) {
	*n = append(*n, name)
	return nothing{}, nil
}
