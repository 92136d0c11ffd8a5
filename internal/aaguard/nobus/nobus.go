// Package nobus keeps 99designs/keyring from a D-Bus session bus while the program starts.
//
// On Linux the library's init functions connect to the session bus, for back ends that this program doesn't use
// there. Without a bus they start one that outlives the program; and if the bus doesn't answer they wait for ever,
// before main could bound it. This package is initialised before the library, for the reason given in package
// aaguard, and names a bus that can't exist. The package that imports the library imports this one too and calls
// Restore in its own init, which Go runs after the library's; so a program and its tests are guarded by that import
// alone.
package nobus

import "syscall"

const variable = "DBUS_SESSION_BUS_ADDRESS"

// dead is an address that no bus can listen on; connecting fails at once.
const dead = "unix:path=/dev/null/unitask-no-session-bus"

// was is the variable as it was found, changed whether it still is another.
var (
	was, set = syscall.Getenv(variable)
	changed  = syscall.Setenv(variable, dead) == nil
)

// Restore puts the variable back as it was; a second call is a no-op.
func Restore() {
	switch {
	case changed && set:
		_ = syscall.Setenv(variable, was)
	case changed:
		_ = syscall.Unsetenv(variable)
	}
	changed = false
}
