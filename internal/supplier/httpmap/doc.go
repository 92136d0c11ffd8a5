// Package httpmap is the adapter of the kind http, for suppliers without an adapter of their own: a self-hosted model
// server, or a format that nobody wrote Go for. A map in YAML says, for one model and capability, how a request becomes
// one HTTP request and how its answer becomes the capability's output, by paths, pointers and small jq programs.
//
// It speaks JSON, forms and answers of bytes; it streams nothing. A map may say that a submission begins a job, which
// is asked after at an address that is made of the job's id, and stopped at another.
//
// Invariants: a request is mapped whole or not at all: the map lists the members that it honours, and one with another
// member is refused; addresses are below the configured one; a map is compiled when it is loaded, and its programs are
// bounded (package jq); no error holds a text of a supplier or a caller; a submission is sent once.
package httpmap
