//go:build !bare

package main

import (
	"unitask/internal/aaguard"
	_ "unitask/internal/secret" // and with it the keyring library
)

func restore() { aaguard.Restore() }
