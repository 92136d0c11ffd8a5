// Package chatmap has chat models do the work of capabilities that exist only in YAML: a map makes a chat of the
// request, the model is asked for JSON of the capability's output schema, and its answer is the output.
//
// A map is configuration (jq programs, package jq); the chat is sent by the adapter that is wrapped. So every kind
// that answers text.chat by a JSON Schema does it, in its own format. Nothing streams: the answer is no text.
//
// Invariants: a request is mapped whole or not at all, by the list of members that the map honours; the chat is valid
// by the directory; it asks for no more tokens than the request, whose reservation is made from that; no error quotes
// a request or an answer.
package chatmap
