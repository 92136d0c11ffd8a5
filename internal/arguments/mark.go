package arguments

import (
	"bufio"
	"io"
)

// byteOrderMark is the mark that some editors and shells write before a text in UTF-8. It is no part of the text.
const byteOrderMark = "\ufeff"

// Unmarked reads a text without its byte order mark.
func Unmarked(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	if head, err := b.Peek(len(byteOrderMark)); err == nil && string(head) == byteOrderMark {
		_, _ = b.Discard(len(byteOrderMark))
	}
	return b
}
