package media_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/sandbox/media"
)

// container is a box that holds boxes, and how many bytes stand before them.
var containers = map[string]int{
	"moov": 0, "trak": 0, "mdia": 0, "minf": 0, "stbl": 0, "dinf": 0, "dref": 8, "stsd": 8, "avc1": 78, "fLaC": 28,
}

// boxes returns the bodies of all boxes by path; siblings of one kind are numbered from 0.
func boxes(t *testing.T, data []byte, path string) (order []string, bodies map[string][]byte) {
	t.Helper()
	bodies = map[string][]byte{}
	seen := map[string]int{}
	for len(data) > 0 {
		if len(data) < 8 {
			t.Fatalf("%s: %d stray bytes", path, len(data))
		}
		size, kind := int(binary.BigEndian.Uint32(data)), string(data[4:8])
		if size < 8 || size > len(data) {
			t.Fatalf("%s/%s: size %d of %d", path, kind, size, len(data))
		}
		name := path + "/" + kind
		if kind == "trak" {
			name = fmt.Sprintf("%s%d", name, seen[kind])
		}
		seen[kind]++
		order, bodies[name] = append(order, name), data[8:size]
		if skip, ok := containers[kind]; ok {
			_, inner := boxes(t, data[8+skip:size], name)
			for k, v := range inner {
				bodies[k] = v
			}
		}
		data = data[size:]
	}
	return order, bodies
}

// words reads a body's 32-bit words.
func words(body []byte) []int {
	var out []int
	for ; len(body) >= 4; body = body[4:] {
		out = append(out, int(binary.BigEndian.Uint32(body)))
	}
	return out
}

// shape is the content of a track's tables.
type shape struct {
	Handler         string
	Samples, Length int // samples; units
	Timescale       int
	Width, Height   int
	Sync            []int
}

func trackShape(t *testing.T, file []byte, b map[string][]byte, trak string) shape {
	t.Helper()
	stbl := trak + "/mdia/minf/stbl"
	s := shape{Handler: string(b[trak+"/mdia/hdlr"][8:12]), Timescale: words(b[trak+"/mdia/mdhd"])[3]}
	s.Width, s.Height = words(b[trak+"/tkhd"])[19]>>16, words(b[trak+"/tkhd"])[20]>>16
	stts := words(b[stbl+"/stts"])
	for i := range stts[1] {
		s.Length += stts[2+2*i] * stts[3+2*i]
		s.Samples += stts[2+2*i]
	}
	if stss := b[stbl+"/stss"]; stss != nil {
		s.Sync = words(stss)[2:]
	}
	if got := words(b[trak+"/mdia/mdhd"])[4]; got != s.Length {
		t.Errorf("%s: duration %d, samples last %d", trak, got, s.Length)
	}
	samples := sampleBytes(t, file, b, stbl)
	if len(samples) != s.Samples {
		t.Errorf("%s: %d samples placed, %d timed", trak, len(samples), s.Samples)
	}
	for i, sample := range samples {
		checkSample(t, s.Handler, i, sample)
	}
	return s
}

// sampleBytes finds every sample by the track's tables.
func sampleBytes(t *testing.T, file []byte, b map[string][]byte, stbl string) [][]byte {
	t.Helper()
	sizes, offsets := words(b[stbl+"/stsz"])[3:], words(b[stbl+"/stco"])[2:]
	runs := words(b[stbl+"/stsc"])
	var out [][]byte
	for chunk, at := range offsets {
		per := 0
		for i := range runs[1] {
			if runs[2+3*i] <= chunk+1 {
				per = runs[3+3*i]
			}
		}
		for range per {
			size := sizes[len(out)]
			if at+size > len(file) {
				t.Fatalf("%s: sample %d ends beyond the file", stbl, len(out))
			}
			out = append(out, file[at:at+size])
			at += size
		}
	}
	return out
}

// checkSample looks at a sample's first bytes: the tables point at real samples.
func checkSample(t *testing.T, handler string, number int, sample []byte) {
	t.Helper()
	if handler == "soun" {
		if sample[0] != 0xFF || sample[1] != 0xF8 {
			t.Errorf("sound sample %d begins % x", number, sample[:2])
		}
		return
	}
	kind := byte(0x41)
	if number == 0 {
		kind = 0x65
	}
	if length := int(binary.BigEndian.Uint32(sample)); length != len(sample)-4 || sample[4] != kind {
		t.Errorf("picture %d: length %d of %d, unit %#x", number, length, len(sample)-4, sample[4])
	}
}

func TestVideoIsAFastStartMP4(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec  media.VideoSpec
		level byte
		want  []shape
	}{
		"720p with sound": {
			media.VideoSpec{Prompt: "waves", Width: 1280, Height: 720, Seconds: 2.5, Sound: true},
			31,
			[]shape{
				{Handler: "vide", Samples: 60, Length: 30720, Timescale: 12288, Width: 1280, Height: 720, Sync: []int{1}},
				{Handler: "soun", Samples: 15, Length: 60000, Timescale: 24000},
			},
		},
		"1080p upright": {
			media.VideoSpec{Prompt: "a tree", Width: 1080, Height: 1920, Seconds: 1},
			40,
			[]shape{{Handler: "vide", Samples: 24, Length: 12288, Timescale: 12288, Width: 1080, Height: 1920, Sync: []int{1}}},
		},
		"4k, one picture": {
			media.VideoSpec{Prompt: "a tree", Width: 3840, Height: 2160, Seconds: 0.01},
			51,
			[]shape{{Handler: "vide", Samples: 1, Length: 512, Timescale: 12288, Width: 3840, Height: 2160, Sync: []int{1}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := media.Video(tt.spec)
			order, b := boxes(t, file, "")
			if diff := cmp.Diff([]string{"/ftyp", "/moov", "/mdat"}, order); diff != "" {
				t.Fatal(diff)
			}
			var got []shape
			for i := 0; b[fmt.Sprintf("/moov/trak%d", i)] != nil; i++ {
				got = append(got, trackShape(t, file, b, fmt.Sprintf("/moov/trak%d", i)))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			config := b["/moov/trak0/mdia/minf/stbl/stsd/avc1/avcC"]
			if diff := cmp.Diff([]byte{1, 66, 0xC0, tt.level, 0xFF, 0xE1}, config[:6]); diff != "" {
				t.Errorf("decoder configuration: %s", diff)
			}
		})
	}
}

func TestVideoIsBounded(t *testing.T) {
	t.Parallel()
	noise := media.Draw(media.PictureSpec{Prompt: "noise", Width: 256, Height: 256})
	for i := range noise.Pix {
		noise.Pix[i] = byte(i * i * 2654435761 >> 13)
	}
	for name, tt := range map[string]struct {
		spec  media.VideoSpec
		limit int
	}{
		"720p 8 s":              {media.VideoSpec{Prompt: "waves", Width: 1280, Height: 720, Seconds: 8, Sound: true}, 3 << 20},
		"720p 8 s before noise": {media.VideoSpec{Prompt: "w", Width: 1280, Height: 720, Seconds: 8, Backdrop: noise}, 5 << 20},
		"4k before noise":       {media.VideoSpec{Prompt: "w", Width: 3840, Height: 2160, Seconds: 0.1, Backdrop: noise}, 4 << 20},
	} {
		if got := len(media.Video(tt.spec)); got > tt.limit {
			t.Errorf("%s: %d bytes, limit %d", name, got, tt.limit)
		}
	}
}
