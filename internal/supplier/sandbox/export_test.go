package sandbox

import (
	"time"

	"unitask/internal/fault"
)

// Magic is the result of ReadMagic.
type Magic struct {
	Fail, FailJob            fault.Code
	Slow                     time.Duration
	Stuck                    string
	Flaky                    int
	Unknown, Full, Malformed bool
}

// ReadMagic finds the magic inputs of a text.
func ReadMagic(text string) Magic {
	m := readMagic(text)
	return Magic{m.fail, m.failJob, m.slow, m.stuck, m.flaky, m.unknown, m.full, m.malformed}
}

// MagicNames returns the name of every row of the table.
func MagicNames() []string {
	var out []string
	for _, in := range magicInputs {
		out = append(out, in.name)
	}
	return out
}

// Tokens cuts a text into tokens.
func Tokens(text string) []string { return tokens(text) }

// Calculate answers the sum in an ask.
func Calculate(ask string) string { return calculate(ask) }

// Message returns the message of a failure.
func Message(code fault.Code) string { return messages[code] }
