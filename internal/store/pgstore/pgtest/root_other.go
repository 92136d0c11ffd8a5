//go:build !unix

package pgtest

import "syscall"

// giveAway has no one to give the folder to.
func giveAway(string) (*syscall.SysProcAttr, error) { return nil, nil }
