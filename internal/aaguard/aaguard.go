// Package aaguard keeps imported packages from touching the terminal or the session bus while the
// program starts. Only package main imports it, and main calls Restore before anything else.
//
// Two dependencies act in their init functions, before main could say no. bubbletea asks the
// terminal for its background colour and waits up to five seconds for an answer. keyring connects
// to the D-Bus session bus and, where there is none, starts one that outlives the program. Both
// look at the environment first, so this package changes the environment during initialisation:
//
//   - CI=1, which makes termenv treat standard output as no terminal;
//   - DBUS_SESSION_BUS_ADDRESS, on Linux and only where no session bus can be found, set to a
//     socket that can't exist.
//
// It has to run before them. Go initialises the first package, in the order of import paths, whose
// imports are ready. "unitask/…" sorts after "github.com/…", but both dependencies reach net/netip
// and through it the standard package "weak", which sorts after "unitask/…". This package imports
// syscall alone, so it is ready, and picked, before weak and all that waits for it. That is why
// nothing may be added to its imports; its test builds a program and watches it on a silent
// terminal, so a tool chain that orders otherwise is noticed.
package aaguard

import "syscall"

// deadBus is an address that no bus can listen on; connecting fails at once.
const deadBus = "unix:path=/dev/null/unitask-no-session-bus"

// saved is what init found in the environment, in the order of the changes.
var saved = engage()

// variable is one environment variable as it was.
type variable struct {
	name, value string
	set         bool
}

// Restore puts the environment back as it was at the start. main calls it first, before any
// goroutine or child process; a second call changes nothing.
func Restore() {
	for _, v := range saved {
		if v.set {
			_ = syscall.Setenv(v.name, v.value)
			continue
		}
		_ = syscall.Unsetenv(v.name)
	}
	saved = nil
}

func engage() []variable {
	changed := []variable{override("CI", "1")}
	if !sessionBus() {
		changed = append(changed, override("DBUS_SESSION_BUS_ADDRESS", deadBus))
	}
	return changed
}

// override sets a variable and returns its former self. Setting fails only for names and values
// that these are not.
func override(name, value string) variable {
	was, set := syscall.Getenv(name)
	_ = syscall.Setenv(name, value)
	return variable{name: name, value: was, set: set}
}
