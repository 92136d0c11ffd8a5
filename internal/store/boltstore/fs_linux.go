package boltstore

import (
	"fmt"
	"syscall"
)

// Network file systems without dependable locks and mapped files, by statfs(2).
var refusedFilesystems = map[uint32]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB2",
}

// checkFilesystem refuses a folder on a network file system.
func checkFilesystem(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("boltstore: statfs %s: %w", dir, err)
	}
	return refuseFilesystem(dir, uint32(st.Type))
}

func refuseFilesystem(dir string, magic uint32) error {
	if name, ok := refusedFilesystems[magic]; ok {
		return fmt.Errorf("boltstore: %s is on %s, where a lock and a mapped file can't be trusted: "+
			"use a local disk, or PostgreSQL for many nodes", dir, name)
	}
	return nil
}

// diskSpace returns the free and the total bytes of the file system; false if unknown.
func diskSpace(path string) (free, total int64, ok bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), true
}
