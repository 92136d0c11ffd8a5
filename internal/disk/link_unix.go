//go:build unix

package disk

import "syscall"

// NoFollow is the flag of os.OpenFile that refuses a symbolic link. With O_CREATE and O_EXCL it isn't needed.
const NoFollow = syscall.O_NOFOLLOW
