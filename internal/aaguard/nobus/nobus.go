// Package nobus keeps the keyring library from starting a D-Bus session bus when it is imported.
//
// On Linux the library connects to the session bus in its init functions and, where it finds none,
// starts one that outlives the program. This package is initialised before it, for the reason given
// in package aaguard, and names a bus that can't exist where there is none. The package that
// imports the library imports this one too and calls Restore in its own init, which Go runs after
// the library's; so a program and its tests are guarded by that import alone.
package nobus

import "syscall"

const variable = "DBUS_SESSION_BUS_ADDRESS"

// dead is an address that no bus can listen on; connecting fails at once.
const dead = "unix:path=/dev/null/unitask-no-session-bus"

// was is the variable as it was found, where it was changed.
var was, set, changed = engage()

func engage() (was string, set, changed bool) {
	if sessionBus() {
		return "", false, false
	}
	was, set = syscall.Getenv(variable)
	_ = syscall.Setenv(variable, dead) // fails only for names and values that these are not
	return was, set, true
}

// Restore puts the variable back as it was; a second call changes nothing.
func Restore() {
	switch {
	case changed && set:
		_ = syscall.Setenv(variable, was)
	case changed:
		_ = syscall.Unsetenv(variable)
	}
	changed = false
}
