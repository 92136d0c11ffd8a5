package main

import (
	"fmt"
	"math/bits"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/snippet"
)

// cutOff is the finish_reason of a text that stops at its limit of tokens.
const cutOff = "length"

const (
	firstRoom = 2048   // the least tokens to suggest: twice the default
	mostRoom  = 262144 // the directory's maximum of max_output_tokens
)

// cutNote says that a task's text stops before its own end; "" for any other result.
func cutNote(done api.Task) string {
	if done.Output == nil || done.Output.Text == nil || done.Output.FinishReason != cutOff {
		return ""
	}
	return "the text is cut off: it has as many tokens as it may have"
}

// roomier is the parameter that allows a longer text, as it is written on the command line: the power of two that is
// at least twice the former limit.
func roomier(done api.Task) string {
	room := firstRoom
	if done.Usage != nil && done.Usage.OutputTokens > 0 {
		had := min(done.Usage.OutputTokens, mostRoom/2)
		room = max(1<<bits.Len64(uint64(2*had-1)), firstRoom)
	}
	return fmt.Sprintf("max_output_tokens=%d", room)
}

// noteCut reports a text that was cut off, below the text, with the parameter that allows a longer one.
func (t *terminal) noteCut(done api.Task) {
	note := cutNote(done)
	if note == "" {
		return
	}
	t.note("note: %s", note)
	next := "unitask capabilities " + snippet.Word(done.Capability) + " shows what bounds it"
	if done.Capability == string(catalog.TextChat) {
		next = "unitask run text.chat PROMPT " + roomier(done) + " allows more"
	}
	t.note("%s %s", t.errStyle.bold.Render("hint:"), printable(next))
}
