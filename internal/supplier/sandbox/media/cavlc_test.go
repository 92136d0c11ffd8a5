package media_test

import (
	"strings"
	"testing"

	"unitask/internal/supplier/sandbox/media"
)

// A slip in a table shows here: no code may begin another, and nearly all room is used.
func TestCodeTablesArePrefixCodes(t *testing.T) {
	t.Parallel()
	for i, table := range media.CodeTables() {
		room := 0.0
		for j, a := range table {
			room += 1 / float64(uint64(1)<<len(a))
			for k, b := range table {
				if j != k && strings.HasPrefix(b, a) {
					t.Errorf("table %d: %s begins %s", i, a, b)
				}
			}
		}
		if room > 1 || room < 0.99 {
			t.Errorf("table %d: uses %v of the room", i, room)
		}
	}
}
