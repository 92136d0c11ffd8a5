//go:build linux || darwin

package disk

import "golang.org/x/sys/unix"

// Free returns how many bytes this user may still write to the file system that dir is on: 0 if it can hold no more
// files. A quota is not looked at.
func Free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	if s.Files > 0 && s.Ffree == 0 {
		return 0, nil
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
