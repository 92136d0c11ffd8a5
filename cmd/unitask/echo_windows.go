package main

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/windows"
)

// withoutEcho changes a terminal's state so that it doesn't show what is typed.
func withoutEcho(s *term.State) { s.Mode &^= windows.ENABLE_ECHO_INPUT }
