// Package aaguard keeps bubbletea from querying the terminal while the program starts. Only package
// main imports it, and main calls Restore before anything else.
//
// bubbletea asks the terminal for its background colour in an init function, before main could say no, and waits up
// to five seconds for an answer. With CI=1 in the environment termenv takes standard output for no terminal and
// doesn't query it, so this package sets it during initialisation.
//
// It has to run before bubbletea. Go initialises the first package, in the order of import paths, whose imports are
// ready. "unitask/…" sorts after "github.com/…", but bubbletea reaches net/netip and through it the standard package
// "weak", which sorts after "unitask/…". This package imports syscall alone, so it is ready, and picked, before weak
// and all that waits for it. That is why its imports must not grow. Its test builds a program and watches it on a
// silent terminal, so a tool chain that orders otherwise is noticed.
package aaguard

import "syscall"

const variable = "CI"

// was is the variable as it was found, changed whether it still is another.
var (
	was, set = syscall.Getenv(variable)
	changed  = syscall.Setenv(variable, "1") == nil
)

// Restore puts the environment back as it was at the start. main calls it first, before any goroutine or child
// process; a second call is a no-op.
func Restore() {
	switch {
	case changed && set:
		_ = syscall.Setenv(variable, was)
	case changed:
		_ = syscall.Unsetenv(variable)
	}
	changed = false
}
