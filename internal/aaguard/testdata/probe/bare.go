//go:build bare

package main

import _ "github.com/99designs/keyring"

func restore() {}
