package artifact

import (
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/webp"
)

// measure returns the size and the length in the headers: pixels and seconds, 0 if unknown. It reads little, and
// never in proportion to claims in the bytes.
func measure(r io.ReaderAt, size int64, kind string) (width, height int, seconds float64) {
	section := io.NewSectionReader(r, 0, size)
	switch kind {
	case typePNG:
		width, height = pixels(png.DecodeConfig(section))
	case typeJPEG:
		width, height = pixels(jpeg.DecodeConfig(section))
	case typeGIF:
		width, height = pixels(gif.DecodeConfig(section))
	case typeWebP:
		width, height = pixels(webp.DecodeConfig(section))
	case typeWAV:
		seconds = wavSeconds(section)
	case typeFLAC:
		seconds = flacSeconds(section)
	case typeMP4, typeM4A:
		width, height, seconds = measureMP4(section)
	case typeWebM:
		width, height, seconds = measureWebM(section)
	}
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) || seconds < 0 {
		seconds = 0
	}
	return max(width, 0), max(height, 0), seconds
}

func pixels(c image.Config, err error) (width, height int) {
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}

const maxParts = 4096 // chunks, boxes or elements looked at; more is no media file

// wavSeconds divides the data chunk by the bytes a second. A stream's data chunk may claim any
// length, so it is cut at the end of the file.
func wavSeconds(s *io.SectionReader) float64 {
	var rate uint32
	at := int64(12)
	for range maxParts {
		head := make([]byte, 20) // id, length; of "fmt ": format, channels, samples and bytes a second
		n, _ := s.ReadAt(head, at)
		if n < 8 {
			return 0
		}
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		switch string(head[:4]) {
		case "fmt ":
			rate = binary.LittleEndian.Uint32(head[16:])
		case "data":
			if rate == 0 {
				return 0
			}
			return float64(min(length, s.Size()-at-8)) / float64(rate)
		}
		at += 8 + length + length&1
	}
	return 0
}

// flacSeconds reads STREAMINFO, which is always the first block.
func flacSeconds(s *io.SectionReader) float64 {
	head := make([]byte, 26)
	if _, err := s.ReadAt(head, 0); err != nil || head[4]&0x7f != 0 {
		return 0
	}
	packed := binary.BigEndian.Uint64(head[18:]) // 20 bits of rate, 8 of format, 36 of samples
	rate, samples := packed>>44, packed&(1<<36-1)
	if rate == 0 {
		return 0
	}
	return float64(samples) / float64(rate)
}

// boxes reads the boxes of one ISO media file, of all levels no more than maxParts.
type boxes struct{ left int }

// each calls visit with the boxes of a section, each without its header, up to its end or the first that is malformed.
func (n *boxes) each(s *io.SectionReader, visit func(kind string, body *io.SectionReader)) {
	for at := int64(0); n.left > 0; n.left-- {
		var head [16]byte
		read, _ := s.ReadAt(head[:], at)
		if read < 8 {
			break
		}
		length, header := int64(binary.BigEndian.Uint32(head[:])), int64(8)
		switch {
		case length == 0: // to the end
			length = s.Size() - at
		case length == 1 && read == 16:
			length, header = int64(binary.BigEndian.Uint64(head[8:])), 16
		}
		if length < header || length > s.Size()-at {
			break
		}
		visit(string(head[4:8]), io.NewSectionReader(s, at+header, length-header))
		at += length
	}
}

// measureMP4 takes the length of the whole film and the largest track's picture.
func measureMP4(s *io.SectionReader) (width, height int, seconds float64) {
	n, films := boxes{maxParts}, 0
	track := func(kind string, body *io.SectionReader) {
		if kind != "tkhd" {
			return
		}
		if w, h := tkhdPixels(body); w*h > width*height {
			width, height = w, h
		}
	}
	n.each(s, func(kind string, body *io.SectionReader) {
		if kind != "moov" {
			return
		}
		if films++; films > 1 {
			return
		}
		n.each(body, func(kind string, body *io.SectionReader) {
			switch kind {
			case "mvhd":
				seconds = mvhdSeconds(body)
			case "trak":
				n.each(body, track)
			}
		})
	})
	return width, height, seconds
}

// mvhdSeconds reads version 0 or 1: 32 or 64 bits of times and length.
func mvhdSeconds(s *io.SectionReader) float64 {
	b := make([]byte, 32)
	n, _ := s.ReadAt(b, 0)
	var scale uint32
	var length uint64
	switch {
	case n >= 20 && b[0] == 0:
		scale, length = binary.BigEndian.Uint32(b[12:]), uint64(binary.BigEndian.Uint32(b[16:]))
	case n >= 32 && b[0] == 1:
		scale, length = binary.BigEndian.Uint32(b[20:]), binary.BigEndian.Uint64(b[24:])
	}
	if scale == 0 {
		return 0
	}
	return float64(length) / float64(scale)
}

// tkhdPixels reads the last eight bytes: width and height in 16.16 fixed point.
func tkhdPixels(s *io.SectionReader) (width, height int) {
	b, err := io.ReadAll(io.NewSectionReader(s, 0, 128))
	if err != nil || len(b) < 84 {
		return 0, 0
	}
	b = b[len(b)-8:]
	return int(binary.BigEndian.Uint32(b) >> 16), int(binary.BigEndian.Uint32(b[4:]) >> 16)
}
