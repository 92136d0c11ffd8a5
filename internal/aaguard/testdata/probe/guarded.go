//go:build !bare

package main

import (
	"unitask/internal/aaguard"
	_ "unitask/internal/secret" // the keyring library behind its own guard
)

func restore() { aaguard.Restore() }
