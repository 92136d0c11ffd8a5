//go:build !linux

package main

// hugePages does nothing: only Linux is asked.
func hugePages() {}
