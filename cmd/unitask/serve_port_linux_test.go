package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestPortHolder(t *testing.T) {
	ln, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	if got, want := portHolder(ln.Addr().String()), fmt.Sprintf("(process %d)", os.Getpid()); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
	if got := portHolder("nonsense"); got != "" {
		t.Errorf("of nonsense: %q", got)
	}
}

// FuzzListenerInode: any table is read without harm, and a found holder is in it.
func FuzzListenerInode(f *testing.F) {
	f.Add("  0: 0100007F:20E4 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 12345 1\n", uint16(8420))
	f.Add("", uint16(0))
	f.Fuzz(func(t *testing.T, table string, port uint16) {
		if inode := listenerInode(table, port); inode != "" && !strings.Contains(table, inode) {
			t.Errorf("%q isn't in the table", inode)
		}
	})
}
