// Package sdk tests the libraries in other languages: their types are those of the directory, and their own tests run
// against the real program.
package sdk
