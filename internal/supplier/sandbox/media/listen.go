package media

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Heard is Listen's facts about a recording. Members that can't be told are zero.
type Heard struct {
	Format   string // "wav", "flac" or "" for anything else
	Duration time.Duration
	Rate     int // samples a second
	Channels int
	Loudness float64 // decibels below full scale, 0 if unknown
	Comment  string  // the text that the recording says of itself
}

// Listen reads a WAV or FLAC file's properties; a damaged one gives its readable facts. For other bytes it is zero.
func Listen(data []byte) Heard {
	switch {
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WAVE":
		return listenWAV(data[12:])
	case bytes.HasPrefix(data, []byte("fLaC")):
		return listenFLAC(data[4:])
	default:
		return Heard{}
	}
}

// listenWAV reads the chunks of a WAV file.
func listenWAV(data []byte) Heard {
	h := Heard{Format: "wav"}
	var perSecond, depth int
	for len(data) >= 8 {
		kind, size := string(data[:4]), int(min(binary.LittleEndian.Uint32(data[4:]), 1<<30))
		body := data[8:min(8+size, len(data))]
		switch {
		case kind == "fmt " && len(body) >= 16:
			h.Channels = int(binary.LittleEndian.Uint16(body[2:]))
			h.Rate = int(binary.LittleEndian.Uint32(body[4:]))
			perSecond = int(binary.LittleEndian.Uint32(body[8:]))
			depth = int(binary.LittleEndian.Uint16(body[14:]))
		case kind == "LIST" && len(body) >= 12 && string(body[:8]) == "INFOICMT":
			h.Comment = comment(body[12:])
		case kind == "data" && perSecond > 0:
			h.Duration = length(len(body), perSecond)
			if depth == 16 {
				h.Loudness = loudness(body)
			}
		}
		data = data[min(8+size+size%2, len(data)):]
	}
	return h
}

// listenFLAC reads the metadata blocks of a FLAC file.
func listenFLAC(data []byte) Heard {
	h := Heard{Format: "flac"}
	for len(data) >= 4 {
		kind, size := data[0], int(binary.BigEndian.Uint32(data)&0xFFFFFF)
		body := data[4:min(4+size, len(data))]
		switch {
		case kind&0x7F == 0 && len(body) >= 18:
			packed := binary.BigEndian.Uint64(body[10:])
			h.Rate, h.Channels = int(packed>>44), int(packed>>41&7)+1
			if samples := packed & (1<<31 - 1); h.Rate > 0 {
				h.Duration = length(int(samples), h.Rate)
			}
		case kind&0x7F == 4:
			if _, text, ok := strings.Cut(string(body), "COMMENT="); ok {
				h.Comment = comment([]byte(text))
			}
		}
		if kind&0x80 != 0 {
			break
		}
		data = data[min(4+size, len(data)):]
	}
	return h
}

// longest bounds the duration that a file's header may claim.
const longest = 1000 * time.Hour

// length is so many units at so many a second.
func length(units, perSecond int) time.Duration {
	seconds := min(float64(units)/float64(perSecond), longest.Seconds())
	return time.Duration(seconds * float64(time.Second))
}

// comment is a text up to its first zero byte; other bytes don't count.
func comment(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	if !utf8.Valid(b) {
		return ""
	}
	return string(b)
}

// loudness is the mean level of 16-bit samples in decibels below full scale; silence is -96.
func loudness(samples []byte) float64 {
	const silence = -96
	total, n := 0.0, len(samples)/2
	for i := range n {
		v := float64(int16(binary.LittleEndian.Uint16(samples[2*i:]))) / 32768
		total += v * v
	}
	if total == 0 {
		return silence
	}
	return max(10*math.Log10(total/float64(n)), silence)
}
