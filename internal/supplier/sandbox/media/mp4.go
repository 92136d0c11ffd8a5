package media

import (
	"encoding/binary"
	"slices"
)

// track is one track of an MP4 file.
type track struct {
	handler       string // "vide" or "soun"
	timescale     int    // units a second
	step, last    int    // units of each sample, and of the last one
	entry         []byte // the sample entry box
	samples       [][]byte
	syncFirst     bool // only the first sample can be started at
	width, height int
}

// duration is the track's length in its own units.
func (t track) duration() int { return t.step*(len(t.samples)-1) + t.last }

// chunk is the number of samples from the given one on that begin within the same second.
func (t track) chunk(from int) int {
	end := (from*t.step/t.timescale + 1) * t.timescale
	return min((end+t.step-1)/t.step, len(t.samples)) - from
}

const movieTimescale = 1000

// mux returns an MP4 file of the tracks, its index before its data, interleaved by the second.
func mux(tracks ...track) []byte {
	head := box("ftyp", []byte("isom\x00\x00\x02\x00isomiso2avc1mp41"))
	sizes, data := interleave(tracks)
	index := movie(tracks, sizes, 0)
	out := append(head, movie(tracks, sizes, len(head)+len(index)+8)...)
	return append(out, box("mdat", data)...)
}

// placed is one chunk: its offset in the data and its number of samples.
type placed struct{ offset, samples int }

// interleave lays the tracks' samples into one run of bytes, a second of each in turn.
func interleave(tracks []track) ([][]placed, []byte) {
	chunks, next := make([][]placed, len(tracks)), make([]int, len(tracks))
	var data []byte
	for more := true; more; {
		more = false
		for i, t := range tracks {
			if next[i] == len(t.samples) {
				continue
			}
			n := t.chunk(next[i])
			chunks[i] = append(chunks[i], placed{len(data), n})
			for _, s := range t.samples[next[i] : next[i]+n] {
				data = append(data, s...)
			}
			next[i] += n
			more = true
		}
	}
	return chunks, data
}

// movie returns the index box; base is the data's offset in the file.
func movie(tracks []track, chunks [][]placed, base int) []byte {
	longest := 0
	var body []byte
	for i, t := range tracks {
		length := t.duration() * movieTimescale / t.timescale
		longest = max(longest, length)
		body = append(body, t.box(i+1, length, chunks[i], base)...)
	}
	header := box("mvhd", u32(0, 0, 0, movieTimescale, longest, 0x00010000), u16(0x0100, 0), u32(0, 0),
		matrix(), u32(0, 0, 0, 0, 0, 0, len(tracks)+1))
	return box("moov", header, body)
}

// box returns the track's index.
func (t track) box(id, length int, chunks []placed, base int) []byte {
	media, volume := box("vmhd", u32(1, 0, 0)), 0
	if t.handler == "soun" {
		media, volume = box("smhd", u32(0, 0)), 0x0100
	}
	header := box("tkhd", u32(3, 0, 0, id, 0, length, 0, 0), u16(0, 0, volume, 0), matrix(),
		u32(t.width<<16, t.height<<16))
	const undetermined = 0x55C4 // the language
	return box("trak", header, box("mdia",
		box("mdhd", u32(0, 0, 0, t.timescale, t.duration()), u16(undetermined, 0)),
		box("hdlr", u32(0, 0), []byte(t.handler), u32(0, 0, 0), []byte("track\x00")),
		box("minf", media, box("dinf", box("dref", u32(0, 1), box("url ", u32(1)))), t.table(chunks, base)),
	))
}

// table returns the track's sample table.
func (t track) table(chunks []placed, base int) []byte {
	sizes, offsets := u32(0, 0, len(t.samples)), u32(0, len(chunks))
	for _, s := range t.samples {
		sizes = append(sizes, u32(len(s))...)
	}
	var runs []int // first chunk, samples a chunk, sample entry
	for i, c := range chunks {
		offsets = append(offsets, u32(base+c.offset)...)
		if i == 0 || c.samples != chunks[i-1].samples {
			runs = append(runs, i+1, c.samples, 1)
		}
	}
	times := []int{0, 1, len(t.samples), t.step}
	if t.last != t.step {
		times = []int{0, 2, len(t.samples) - 1, t.step, 1, t.last}
	}
	parts := [][]byte{
		box("stsd", u32(0, 1), t.entry), box("stts", u32(times...)),
		box("stsc", u32(slices.Concat([]int{0, len(runs) / 3}, runs)...)),
		box("stsz", sizes), box("stco", offsets),
	}
	if t.syncFirst {
		parts = append(parts, box("stss", u32(0, 1, 1)))
	}
	return box("stbl", parts...)
}

// avcEntry is the sample entry of the encoder's pictures.
func avcEntry(e *encoder) []byte {
	sequence, picture := e.sequence(), e.picture()
	config := box("avcC", []byte{1}, sequence[1:4], []byte{0xFF, 0xE1}, u16(len(sequence)), sequence,
		[]byte{1}, u16(len(picture)), picture)
	const dpi72 = 0x00480000
	return box("avc1", u32(0), u16(0, 1), u32(0, 0, 0, 0), u16(e.width, e.height), u32(dpi72, dpi72, 0),
		u16(1), make([]byte, 32), u16(24, 0xFFFF), config,
		box("colr", []byte("nclx"), u16(1, 1, 1), []byte{0}))
}

// flacEntry is the sample entry of FLAC sound.
func flacEntry(s Sound, streamInfo []byte) []byte {
	return box("fLaC", u32(0), u16(0, 1), u32(0, 0), u16(1, 16, 0, 0), u32(s.Rate<<16),
		box("dfLa", u32(0), []byte{0x80, 0, 0, byte(len(streamInfo))}, streamInfo))
}

// matrix is the identity.
func matrix() []byte { return u32(0x00010000, 0, 0, 0, 0x00010000, 0, 0, 0, 0x40000000) }

// box returns a box of the given type with the joined parts in it.
func box(kind string, parts ...[]byte) []byte {
	size := 8
	for _, p := range parts {
		size += len(p)
	}
	out := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(size))
	out = append(out, kind...)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func u32(values ...int) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, v := range values {
		out = binary.BigEndian.AppendUint32(out, uint32(v))
	}
	return out
}

func u16(values ...int) []byte {
	out := make([]byte, 0, 2*len(values))
	for _, v := range values {
		out = binary.BigEndian.AppendUint16(out, uint16(v))
	}
	return out
}
