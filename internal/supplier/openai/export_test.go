package openai

import (
	"bytes"
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// Ask writes a chat for a server with these settings, and says how much text it carries.
func Ask(r supplier.Request, maxTokens string, streamUsage, live bool) (body json.RawMessage, said int, err error) {
	ask, err := settings{maxTokens: maxTokens, streamUsage: streamUsage}.ask(r, completions, live)
	return bytes.Join(ask.body, nil), ask.bytes, err
}

// ScanAnswer reads an answer in the quick way, and DecodeAnswer in the other.
func ScanAnswer(b []byte) (any, bool) { return scanAnswer(b) }

// DecodeAnswer leaves out the members that the fast lane leaves out.
func DecodeAnswer(b []byte) (any, error) {
	var body chatAnswer
	err := upstream.Decode(b, &body)
	if body.Object != "error" {
		body.Object = ""
	}
	return body, err
}

// ScanReport reads a usage report in the quick way, and DecodeReport in the other.
func ScanReport(b []byte) (any, bool) { return scanReport(b) }

// DecodeReport reads the readable counts.
func DecodeReport(b []byte) any { return decodeReport(b) }

// ScanDetails and DecodeDetails do the same with a report's details.
func ScanDetails(b []byte) (any, bool) { return scanDetails(b) }

// DecodeDetails reads the readable counts.
func DecodeDetails(b []byte) any { return decodeDetails(b) }

// Answered returns the function that makes a result of an answer's body.
func Answered() func(body []byte) (supplier.Outcome, error) {
	a := &adapter{format: upstream.Format{Meanings: meanings()}}
	return func(body []byte) (supplier.Outcome, error) {
		return a.decodeChat(upstream.Answer{Status: 200, Body: body}, 5)
	}
}
