package artifacttest

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"testing"

	"github.com/HugoSmits86/nativewebp"
)

// Sample is a small file of one kind, with its measures.
type Sample struct {
	Name          string
	Data          []byte
	Kind          string
	Width, Height int
	Seconds       float64
}

// Samples has every media type that is kept, and each way to recognise it.
func Samples(t testing.TB) []Sample {
	t.Helper()
	return []Sample{
		{"png", encoded(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }), "image/png", 7, 5, 0},
		{"jpeg", encoded(t, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }), "image/jpeg", 7, 5, 0},
		{"gif", encoded(t, func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }), "image/gif", 7, 5, 0},
		{"webp", encoded(t, func(b *bytes.Buffer, m image.Image) error { return nativewebp.Encode(b, m, nil) }), "image/webp", 7, 5, 0},
		{"wav", wav(8000, 4000, 4000), "audio/wav", 0, 0, 0.5},
		{"streamed wav", wav(8000, 4000, math.MaxUint32), "audio/wav", 0, 0, 0.5},
		{"flac", flac(44100, 22050), "audio/flac", 0, 0, 0.5},
		{"mp4", mp4("isom", mvhd(0, 1000, 2500)), "video/mp4", 320, 240, 2.5},
		{"long mp4", mp4("mp42", mvhd(1, 90000, 90000*5000)), "video/mp4", 320, 240, 5000},
		{"m4a", mp4("M4A ", mvhd(0, 1000, 1500)), "audio/mp4", 320, 240, 1.5},
		{"webm", webm(), "video/webm", 320, 240, 2.5},
		{"mp3 with a tag", []byte("ID3\x04\x00\x00\x00\x00\x00\x00"), "audio/mpeg", 0, 0, 0},
		{"mp3", []byte{0xff, 0xfb, 0x90, 0x64, 0, 0, 0, 0}, "audio/mpeg", 0, 0, 0},
		{"ogg", []byte("OggS\x00\x02" + "\x00\x00\x00\x00"), "audio/ogg", 0, 0, 0},
		{"aac", []byte{0xff, 0xf1, 0x50, 0x80, 0x01, 0x3f, 0xfc}, "audio/aac", 0, 0, 0},
	}
}

func encoded(t testing.TB, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewNRGBA(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wav has n bytes of sound at that many bytes a second, and claims a length.
func wav(rate uint32, n int, claimed uint32) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WAVE" + "LIST\x03\x00\x00\x00abc\x00" + "fmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, rate) // samples a second, of one byte
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = append(b, 1, 0, 8, 0)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, claimed)
	return append(b, make([]byte, n)...)
}

func flac(rate, count uint64) []byte {
	b := append([]byte("fLaC\x00\x00\x00\x22"), make([]byte, 10)...)
	b = binary.BigEndian.AppendUint64(b, rate<<44|count)
	return append(b, make([]byte, 16)...)
}

func mp4(brand string, mvhd []byte) []byte {
	tkhd := append(make([]byte, 76), 320>>8, 320&0xff, 0, 0, 0, 240, 0, 0)
	film := append(atom("mvhd", mvhd), atom("trak", atom("tkhd", make([]byte, 84)))...)
	film = append(film, atom("trak", atom("tkhd", tkhd))...)
	return append(append(atom("ftyp", []byte(brand+"\x00\x00\x00\x00")), atom("mdat", make([]byte, 9))...), atom("moov", film)...)
}

func mvhd(version byte, scale uint32, length uint64) []byte {
	b := []byte{version, 0, 0, 0}
	if version == 0 {
		b = binary.BigEndian.AppendUint32(append(b, make([]byte, 8)...), scale)
		return append(binary.BigEndian.AppendUint32(b, uint32(length)), make([]byte, 80)...)
	}
	b = binary.BigEndian.AppendUint32(append(b, make([]byte, 16)...), scale)
	return append(binary.BigEndian.AppendUint64(b, length), make([]byte, 80)...)
}

func atom(kind string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	return append(append(b, kind...), body...)
}

// webm is a file whose segment has no known length, as a live recorder writes it.
func webm() []byte {
	ticks := binary.BigEndian.AppendUint64(nil, math.Float64bits(2500))
	info := append(element("\x2a\xd7\xb1", []byte{0x0f, 0x42, 0x40}), element("\x44\x89", ticks)...)
	video := append(element("\xb0", []byte{1, 64}), element("\xba", []byte{240})...)
	tracks := element("\xae", append(element("\xd7", []byte{1}), element("\xe0", video)...))
	b := element("\x1a\x45\xdf\xa3", append(element("\x42\x86", []byte{1}), element("\x42\x82", []byte("webm"))...))
	b = append(b, "\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff"...)
	b = append(b, element("\x15\x49\xa9\x66", info)...)
	b = append(b, element("\x16\x54\xae\x6b", tracks)...)
	return append(b, "\x1f\x43\xb6\x75\x01\xff\xff\xff\xff\xff\xff\xff"...)
}

func element(id string, body []byte) []byte {
	return append(append([]byte(id), 0x80|byte(len(body))), body...)
}
