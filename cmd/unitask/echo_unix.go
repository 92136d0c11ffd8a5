//go:build unix

package main

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// withoutEcho changes a terminal's state so that it doesn't show what is typed.
func withoutEcho(s *term.State) { s.Lflag &^= unix.ECHO }
