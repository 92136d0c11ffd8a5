//go:build bare

package main

func restore() {}
