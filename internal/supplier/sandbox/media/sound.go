package media

import (
	"encoding/binary"
	"time"
)

// Sound is one channel of 16-bit samples.
type Sound struct {
	Rate    int // samples a second
	Samples []int16
	Comment string // kept in the file beside the samples; may be empty
}

// Duration returns the sound's length.
func (s Sound) Duration() time.Duration {
	return time.Duration(len(s.Samples)) * time.Second / time.Duration(s.Rate)
}

// bytesPerSample of 16-bit sound in one channel.
const bytesPerSample = 2

// WAV returns the sound as a RIFF file of plain samples.
func (s Sound) WAV() []byte {
	const plain, channels = 1, 1
	le := binary.LittleEndian
	format := le.AppendUint16(nil, plain)
	format = le.AppendUint16(format, channels)
	format = le.AppendUint32(format, uint32(s.Rate))
	format = le.AppendUint32(format, uint32(s.Rate*bytesPerSample))
	format = le.AppendUint16(format, bytesPerSample)
	format = le.AppendUint16(format, 8*bytesPerSample)
	body := append([]byte("WAVE"), riff("fmt ", format)...)
	if s.Comment != "" {
		body = append(body, riff("LIST", append([]byte("INFO"), riff("ICMT", []byte(s.Comment+"\x00"))...))...)
	}
	return riff("RIFF", append(body, riff("data", s.bytes())...))
}

// bytes returns the samples, low byte first.
func (s Sound) bytes() []byte {
	out := make([]byte, 0, len(s.Samples)*bytesPerSample)
	for _, v := range s.Samples {
		out = binary.LittleEndian.AppendUint16(out, uint16(v))
	}
	return out
}

// riff returns a chunk, padded to an even length.
func riff(kind string, body []byte) []byte {
	out := make([]byte, 0, len(body)+9)
	out = append(out, kind...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(body)))
	out = append(out, body...)
	if len(body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}
