//go:build !linux

package main

import "os"

// syncData makes a file's bytes last.
func syncData(f *os.File) error { return f.Sync() }
