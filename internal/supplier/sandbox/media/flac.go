package media

import (
	"bytes"
	"crypto/md5" //nolint:gosec // FLAC's own checksum of the samples
	"encoding/binary"
	"math/bits"
)

// flacBlock is the number of samples in each frame but the last.
const flacBlock = 4096

// FLAC returns the sound as a FLAC file, losslessly compressed.
func (s Sound) FLAC() []byte {
	frames := s.flacFrames()
	out := append([]byte("fLaC"), flacMetadata(0, s.Comment == "", s.streamInfo(frames))...)
	if s.Comment != "" {
		le := binary.LittleEndian
		tag := "COMMENT=" + s.Comment
		comments := le.AppendUint32(nil, 0) // no maker's name
		comments = le.AppendUint32(comments, 1)
		comments = append(le.AppendUint32(comments, uint32(len(tag))), tag...)
		out = append(out, flacMetadata(4, true, comments)...)
	}
	return append(out, bytes.Join(frames, nil)...)
}

// flacMetadata returns a metadata block with its header.
func flacMetadata(kind byte, last bool, body []byte) []byte {
	head := u32(len(body))
	head[0] = kind
	if last {
		head[0] |= 1 << 7
	}
	return append(head, body...)
}

// streamInfo returns the body of the first metadata block.
func (s Sound) streamInfo(frames [][]byte) []byte {
	shortest, longest := 1<<24-1, 0
	for _, f := range frames {
		shortest, longest = min(shortest, len(f)), max(longest, len(f))
	}
	w := &bitWriter{}
	w.put(flacBlock, 16)
	w.put(flacBlock, 16)
	w.put(uint32(shortest), 24)
	w.put(uint32(longest), 24)
	w.put(uint32(s.Rate), 20)
	w.put(0, 3) // one channel
	w.put(15, 5)
	w.put(0, 4)
	w.put(uint32(len(s.Samples)), 32)
	sum := md5.Sum(s.bytes()) //nolint:gosec // as above
	w.raw(sum[:])
	return w.out
}

// flacFrames returns the sound's frames.
func (s Sound) flacFrames() [][]byte {
	var frames [][]byte
	for at := 0; at < len(s.Samples); at += flacBlock {
		block := s.Samples[at:min(at+flacBlock, len(s.Samples))]
		frames = append(frames, flacFrame(len(frames), block))
	}
	return frames
}

// flacFrame returns one frame: the samples' second differences, or the samples themselves if that is shorter.
func flacFrame(number int, block []int16) []byte {
	w := &bitWriter{}
	w.put(0xFFF8, 16)
	w.put(0x70, 8) // the block's length follows; the rate is in the stream's header
	w.put(0b0000_100_0, 8)
	w.raw([]byte(string(rune(number)))) // FLAC numbers its frames in UTF-8's scheme
	w.put(uint32(len(block)-1), 16)
	w.put(uint32(crc8(w.out)), 8)
	residual, k := secondDifferences(block)
	if cost := riceBits(residual, k); len(block) > 2 && cost < 16*len(residual) {
		w.put(0b0_001010_0, 8)
		w.put(uint32(uint16(block[0])), 16)
		w.put(uint32(uint16(block[1])), 16)
		w.put(0, 6) // one partition of short parameters
		w.put(uint32(k), 4)
		for _, v := range residual {
			w.rice(v, k)
		}
	} else {
		w.put(0b0_000001_0, 8)
		for _, v := range block {
			w.put(uint32(uint16(v)), 16)
		}
	}
	w.align()
	return binary.BigEndian.AppendUint16(w.out, crc16(w.out))
}

// secondDifferences returns the residual of a block after linear prediction, folded to be positive, and the Rice
// parameter that suits it.
func secondDifferences(block []int16) (folded []uint32, k int) {
	total := uint64(0)
	for i := 2; i < len(block); i++ {
		v := int32(block[i]) - 2*int32(block[i-1]) + int32(block[i-2])
		f := uint32(v<<1) ^ uint32(v>>31)
		folded = append(folded, f)
		total += uint64(f)
	}
	if len(folded) > 0 {
		k = min(max(bits.Len64(total/uint64(len(folded)))-1, 0), 14)
	}
	return folded, k
}

// riceBits is how many bits the values take.
func riceBits(folded []uint32, k int) int {
	total := 0
	for _, v := range folded {
		total += int(v>>k) + 1 + k
	}
	return total
}

// rice appends a value: its upper part in unary, its low k bits as they are.
func (w *bitWriter) rice(v uint32, k int) {
	high := int(v >> k)
	for ; high >= 32; high -= 32 {
		w.put(0, 32)
	}
	w.put(1, high+1)
	w.put(v, k)
}

// crc8 and crc16 are FLAC's checksums, with the polynomials 0x07 and 0x8005.
func crc8(b []byte) (sum byte) {
	for _, v := range b {
		sum ^= v
		for range 8 {
			sum = sum<<1 ^ 0x07*(sum>>7)
		}
	}
	return sum
}

func crc16(b []byte) (sum uint16) {
	for _, v := range b {
		sum ^= uint16(v) << 8
		for range 8 {
			sum = sum<<1 ^ 0x8005*(sum>>15)
		}
	}
	return sum
}
