//go:build race && unix

package browser_test

// The server runs in a process of its own, built without the race detector: the plain run has said all of it.
func init() { raced = true }
