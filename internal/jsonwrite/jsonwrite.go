// Package jsonwrite appends JSON values to a slice, without reflection and without a check of values
// that are JSON already. It serves the few values that every task is written as; encoding/json serves
// all others.
//
// Invariants: the output decodes to the same value as encoding/json's; HTML's characters aren't
// escaped; the Writer sets the commas.
package jsonwrite

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Writer appends to a slice. The zero Writer is ready; one goroutine uses it.
type Writer struct {
	out   []byte
	comma bool // the next value needs one before it
	err   error
	last  cachedSecond
	apart []apart
}

// apart is a text that isn't copied, and before how many bytes of the others it stands.
type apart struct {
	at   int
	text []byte
}

// longText is from how many bytes on a text stays apart: a piece more to send costs less than the copy.
const longText = 16 << 10

// New returns a Writer with room for n bytes.
func New(n int) *Writer { return Append(make([]byte, 0, n)) }

// Append returns a Writer that appends to b.
func Append(b []byte) *Writer { return &Writer{out: b} }

// Reset empties the Writer; the slice of an earlier Bytes will be overwritten.
func (w *Writer) Reset() {
	if cap(w.out) > maxKept {
		w.out = nil
	}
	*w = Writer{out: w.out[:0], last: w.last}
}

// maxKept is the largest buffer, in bytes, that Reset keeps.
const maxKept = 64 << 10

// Bytes returns the written bytes, or the first error.
func (w *Writer) Bytes() ([]byte, error) {
	if len(w.apart) > 0 {
		pieces, err := w.Pieces()
		return bytes.Join(pieces, nil), err
	}
	return w.out, w.err
}

// Pieces returns the written bytes in pieces, of which long texts of Long are their own memory, or the first error.
func (w *Writer) Pieces() ([][]byte, error) {
	pieces := make([][]byte, 0, 1+2*len(w.apart))
	from := 0
	for _, a := range w.apart {
		pieces = append(pieces, w.out[from:a.at], a.text)
		from = a.at
	}
	return append(pieces, w.out[from:]), w.err
}

// Raw appends bytes that are no value, such as a header or a line feed.
func (w *Writer) Raw(b ...byte) { w.out = append(w.out, b...) }

// Begin opens an object or an array: '{' or '['.
func (w *Writer) Begin(bracket byte) {
	w.value()
	w.out = append(w.out, bracket)
	w.comma = false
}

// End closes it: '}' or ']'.
func (w *Writer) End(bracket byte) {
	w.out = append(w.out, bracket)
	w.comma = true
}

// Name begins a member. The name must need no escaping.
func (w *Writer) Name(name string) {
	if w.comma {
		w.out = append(w.out, ',')
	}
	w.out = append(w.out, '"')
	w.out = append(w.out, name...)
	w.out = append(w.out, '"', ':')
	w.comma = false
}

// Key begins a member whose name may need escaping.
func (w *Writer) Key(name string) {
	w.String(name)
	w.out = append(w.out, ':')
	w.comma = false
}

func (w *Writer) value() {
	if w.comma {
		w.out = append(w.out, ',')
	}
	w.comma = true
}

// String appends a string; invalid UTF-8 becomes U+FFFD.
func (w *Writer) String(s string) {
	w.value()
	if !needsNoEscape(s) {
		w.out, _ = jsontext.AppendQuote(w.out, s) // its error reports invalid UTF-8, which it has replaced
		return
	}
	w.out = append(w.out, '"')
	w.out = append(w.out, s...)
	w.out = append(w.out, '"')
}

// needsNoEscape reports whether s is printable ASCII that JSON doesn't escape: most strings are, and are copied.
func needsNoEscape(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if !needsNoEscape8(binary.LittleEndian.Uint64([]byte(s[:8]))) {
			return false
		}
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// needsNoEscape8 is needsNoEscape for eight bytes at once. A byte that is zero, or less than its subtrahend, sets
// its highest bit; a carry from such a byte may set others, when the answer is false already.
func needsNoEscape8(v uint64) bool {
	const ones = 0x0101010101010101
	quote, escape, del := v^(ones*'"'), v^(ones*'\\'), v^(ones*0x7f)
	return (v|(v-ones*' ')|(quote-ones)|(escape-ones)|(del-ones))&(ones*0x80) == 0
}

// Int appends a whole number.
func (w *Writer) Int(n int64) {
	w.value()
	w.out = strconv.AppendInt(w.out, n, 10)
}

// Float appends a finite number.
func (w *Writer) Float(f float64) {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		w.Any(f) // with an exponent
		return
	}
	w.value()
	w.out = strconv.AppendFloat(w.out, f, 'f', -1, 64)
}

// Bool appends true or false.
func (w *Writer) Bool(b bool) {
	w.value()
	w.out = strconv.AppendBool(w.out, b)
}

// Null appends null.
func (w *Writer) Null() {
	w.value()
	w.out = append(w.out, "null"...)
}

// JSON appends a value that is JSON already, without a check.
func (w *Writer) JSON(raw []byte) {
	w.value()
	w.out = append(w.out, raw...)
}

// Text appends a string that add appends without its quotes. It must need no escaping; an error of add's is the Writer's.
func (w *Writer) Text(add func(to []byte) ([]byte, error)) {
	w.value()
	out, err := add(append(w.out, '"'))
	w.out = append(out, '"')
	if w.err == nil {
		w.err = err
	}
}

// Long appends a string of a prefix and a text that need no escaping. A long text isn't copied, and must stay as it is.
func (w *Writer) Long(prefix string, text []byte) {
	w.value()
	w.out = append(append(w.out, '"'), prefix...)
	if len(text) < longText {
		w.out = append(w.out, text...)
	} else {
		w.apart = append(w.apart, apart{len(w.out), text})
	}
	w.out = append(w.out, '"')
}

// Any appends encoding/json's form of the value.
func (w *Writer) Any(v any) {
	w.value()
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil && w.err == nil {
		w.err = err
	}
	w.out = append(w.out, bytes.TrimSuffix(raw.Bytes(), []byte("\n"))...)
}
