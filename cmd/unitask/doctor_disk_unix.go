//go:build unix

package main

import "golang.org/x/sys/unix"

// freeBytes is the room on the file system of a folder, for this user.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert,nolintlint // the types differ between systems
}
