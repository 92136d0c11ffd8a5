//go:build !linux

package boltstore

import "os"

// checkFilesystem accepts every folder: the kind of file system isn't known here.
func checkFilesystem(string) error { return nil }

// diskSpace returns the free and the total bytes of the file system; false if unknown.
func diskSpace(string) (free, total int64, ok bool) { return 0, 0, false }

// syncData makes a file's bytes last.
func syncData(f *os.File) error { return f.Sync() }

// uncache drops a synced file from the kernel's page cache: here it is a no-op.
func uncache(*os.File) {}
