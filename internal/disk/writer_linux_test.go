package disk_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"unitask/internal/disk"
)

// TestTurnsErrors: an error that the system gives for a piece is the write's. A pipe can't be written out.
func TestTurnsErrors(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(in.Close(), out.Close()) }()
	go func() { _, _ = io.Copy(io.Discard, in) }()
	w := new(disk.Turns).Writer(out)
	if n, err := w.Write(make([]byte, 200<<10)); n != 200<<10 || err != nil {
		t.Errorf("less than a piece: %d, %v", n, err)
	}
	if n, err := w.Write(make([]byte, 200<<10)); !errors.Is(err, unix.ESPIPE) {
		t.Errorf("more than a piece: %d, %v", n, err)
	}
}
