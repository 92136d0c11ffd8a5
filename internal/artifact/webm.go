package artifact

import (
	"encoding/binary"
	"io"
	"math"
)

// The EBML elements that say how large and how long a WebM file is.
const (
	ebmlSegment     = 0x18538067
	ebmlInfo        = 0x1549a966
	ebmlScale       = 0x2ad7b1
	ebmlDuration    = 0x4489
	ebmlTracks      = 0x1654ae6b
	ebmlTrack       = 0xae
	ebmlVideo       = 0xe0
	ebmlPixelWidth  = 0xb0
	ebmlPixelHeight = 0xba
	ebmlCluster     = 0x1f43b675
)

// webmFacts is the values that measureWebM collects.
type webmFacts struct {
	width, height int
	scale         uint64  // nanoseconds a tick
	ticks         float64 // a live recording doesn't have it
}

// measureWebM reads the elements before the first cluster of pictures.
func measureWebM(s *io.SectionReader) (width, height int, seconds float64) {
	facts := webmFacts{scale: 1_000_000}
	left := maxParts
	facts.collect(s, &left)
	return facts.width, facts.height, facts.ticks * float64(facts.scale) / 1e9
}

// collect walks the elements of a section; left is the budget of the whole walk. It reports false once all values are
// found.
func (f *webmFacts) collect(s *io.SectionReader, left *int) bool {
	for at := int64(0); at < s.Size(); {
		*left--
		id, n := ebmlNumber(s, at, true)
		length, m := ebmlNumber(s, at+n, false)
		if *left < 0 || n == 0 || m == 0 || id == ebmlCluster {
			return false
		}
		at += n + m
		rest := s.Size() - at
		if length == 1<<(7*m)-1 || length > uint64(max(rest, 0)) { // of unknown length, or cut short
			length = uint64(max(rest, 0))
		}
		if !f.element(id, io.NewSectionReader(s, at, int64(length)), left) {
			return false
		}
		at += int64(length)
	}
	return true
}

func (f *webmFacts) element(id uint64, body *io.SectionReader, left *int) bool {
	switch id {
	case ebmlSegment, ebmlInfo, ebmlTracks, ebmlTrack, ebmlVideo:
		return f.collect(body, left)
	case ebmlScale:
		f.scale = ebmlUint(body)
	case ebmlDuration:
		f.ticks = ebmlFloat(body)
	case ebmlPixelWidth:
		f.width = int(ebmlUint(body) & math.MaxInt32)
	case ebmlPixelHeight:
		f.height = int(ebmlUint(body) & math.MaxInt32)
	}
	return true
}

// ebmlNumber reads a number of variable length, with its length mark (an id) or without (a size), and returns how
// many bytes it took, 0 without one.
func ebmlNumber(s *io.SectionReader, at int64, mark bool) (value uint64, n int64) {
	var b [8]byte
	got, _ := s.ReadAt(b[:], at)
	for n = 1; n <= 8; n++ {
		if b[0]&(0x80>>(n-1)) != 0 {
			break
		}
	}
	if n > 8 || int64(got) < n {
		return 0, 0
	}
	value = binary.BigEndian.Uint64(b[:]) >> (64 - 8*n)
	if !mark {
		value &= 1<<(7*n) - 1
	}
	return value, n
}

func ebmlUint(s *io.SectionReader) uint64 {
	if s.Size() > 8 {
		return 0
	}
	var b [8]byte
	n, _ := s.ReadAt(b[:s.Size()], 0)
	if n == 0 {
		return 0
	}
	return binary.BigEndian.Uint64(b[:]) >> (64 - 8*n)
}

func ebmlFloat(s *io.SectionReader) float64 {
	bits := ebmlUint(s)
	switch s.Size() {
	case 4:
		return float64(math.Float32frombits(uint32(bits)))
	case 8:
		return math.Float64frombits(bits)
	}
	return 0
}
