package artifact

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"

	"unitask/internal/jsonread"
)

// Inline reads the bytes of an inline media value, whose base64 is decoded piece by piece as it is read. It takes the
// standard alphabet with its padding, without white space and stray bits, so that one content has one spelling. Every
// error of Read but io.EOF is an INVALID_REQUEST about the field. One goroutine uses it.
type Inline struct {
	source  Source
	size    int64  // of all bytes
	rest    []byte // still to be decoded
	decoded []byte // still to be read, in buffer
	buffer  []byte
}

// Pieces of so many characters are decoded at once, multiples of four; the first holds SniffLen bytes, which are often
// all that is read.
const (
	firstPiece  = 4 * ((SniffLen + 2) / 3)
	inlinePiece = 32 << 10
)

// NewInline returns an Inline of data, which must stay as it is meanwhile, or an INVALID_REQUEST about the field if
// data is empty or longer than limit, in decoded bytes. It doesn't decode.
func NewInline(field string, data []byte, limit int64) (*Inline, error) {
	source := FromCaller(field)
	if len(data) == 0 {
		return nil, source.bad("is empty", nil)
	}
	padding := 0
	for padding < len(data) && data[len(data)-1-padding] == '=' {
		padding++
	}
	bytes := int64(base64.StdEncoding.DecodedLen(len(data)) - padding)
	if bytes > limit {
		return nil, source.TooLarge(limit)
	}
	return &Inline{source: source, size: bytes, rest: data}, nil
}

// Len returns how many bytes there are, read or not, if all of them are sound.
func (r *Inline) Len() int64 { return r.size }

// Read implements io.Reader.
func (r *Inline) Read(p []byte) (int, error) {
	if len(r.decoded) == 0 {
		if err := r.decode(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.decoded)
	r.decoded = r.decoded[n:]
	return n, nil
}

// Check returns what Read would return at a piece that isn't sound, nil if there is none. It doesn't decode. known:
// the data were seen to be padded base64 but for stray bits.
func (r *Inline) Check(known bool) error {
	last := r.rest[max(0, len(r.rest)-4):]
	var stray [3]byte
	if _, err := base64.StdEncoding.Strict().Decode(stray[:], last); err != nil || !known && !jsonread.IsBase64(r.rest) {
		return r.unsound()
	}
	return nil
}

func (r *Inline) unsound() error {
	return r.source.bad("is not base64 in the standard alphabet with padding", nil)
}

// decode turns the next piece into bytes. Padding in a piece that isn't the last makes it come out short.
func (r *Inline) decode() error {
	if len(r.rest) == 0 {
		return io.EOF
	}
	size := inlinePiece
	if r.buffer == nil {
		size = firstPiece
	}
	piece := r.rest[:min(len(r.rest), size)]
	if n := base64.StdEncoding.DecodedLen(len(piece)); n > len(r.buffer) {
		r.buffer = make([]byte, n)
	}
	r.rest = r.rest[len(piece):]
	n, err := base64.StdEncoding.Strict().Decode(r.buffer, piece)
	if err != nil || bytes.IndexByte(piece, '\n') >= 0 || bytes.IndexByte(piece, '\r') >= 0 || len(r.rest) > 0 && n < len(piece)/4*3 { // the decoder would skip line ends
		return r.unsound()
	}
	r.decoded = r.buffer[:n]
	return nil
}

// Size is a byte count for people, such as "10 MiB", of a bound: rounded down.
func Size(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.bytes && n%unit.bytes == 0 {
			return fmt.Sprintf("%d %s", n/unit.bytes, unit.name)
		}
	}
	if n >= 1<<20 {
		return fmt.Sprintf("%.1f MiB", float64(n*10>>20)/10)
	}
	return fmt.Sprintf("%d bytes", n)
}
