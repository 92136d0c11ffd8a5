//go:build !linux

package aaguard

// sessionBus reports true: only on Linux does an import look for a session bus.
func sessionBus() bool { return true }
