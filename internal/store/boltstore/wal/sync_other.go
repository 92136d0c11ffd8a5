//go:build !linux

package wal

import "os"

// Sync makes a file's bytes last.
func Sync(f *os.File) error { return f.Sync() }

// uncache drops a synced file from the kernel's page cache: here it is a no-op.
func uncache(*os.File) {}
