package main

import (
	"os"
	"syscall"
)

// syncData makes a file's bytes last, as the engine does.
func syncData(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
