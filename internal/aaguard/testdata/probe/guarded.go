//go:build !bare

package main

import "unitask/internal/aaguard"

func restore() { aaguard.Restore() }
