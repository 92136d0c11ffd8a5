package media_test

import (
	"encoding/binary"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/supplier/sandbox/media"
)

func TestListen(t *testing.T) {
	t.Parallel()
	sound := media.Speak(media.SpeechSpec{Text: "Hello, world. Ünïcode!", Speed: 2})
	silence := media.Sound{Rate: 8000, Samples: make([]int16, 4000)}
	damaged := append(silence.WAV()[:44:44], "LIST\xff\xff\xff\xffINFOICMT"...)
	for name, tt := range map[string]struct {
		data []byte
		want media.Heard
	}{
		"speech as WAV":  {sound.WAV(), media.Heard{Format: "wav", Duration: sound.Duration(), Rate: 24000, Channels: 1, Loudness: -23.5, Comment: sound.Comment}},
		"speech as FLAC": {sound.FLAC(), media.Heard{Format: "flac", Duration: sound.Duration(), Rate: 24000, Channels: 1, Comment: sound.Comment}},
		"silence":        {silence.WAV(), media.Heard{Format: "wav", Duration: time.Second / 2, Rate: 8000, Channels: 1, Loudness: -96}},
		"damaged":        {damaged, media.Heard{Format: "wav", Duration: time.Millisecond, Rate: 8000, Channels: 1, Loudness: -5.5}},
		"other bytes":    {[]byte("ID3\x04"), media.Heard{}},
		"nothing":        {nil, media.Heard{}},
	} {
		if diff := cmp.Diff(tt.want, media.Listen(tt.data), cmpopts.EquateApprox(0, 0.6)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSpeechFollowsTextAndSpeed(t *testing.T) {
	t.Parallel()
	length := func(text string, speed float64) time.Duration {
		return media.Speak(media.SpeechSpec{Text: text, Speed: speed}).Duration()
	}
	usual := length("the quick brown fox jumps over the lazy dog", 1)
	if usual < 2*time.Second || usual > 4*time.Second {
		t.Errorf("nine words take %v", usual)
	}
	if fast := length("the quick brown fox jumps over the lazy dog", 2); fast >= usual*6/10 {
		t.Errorf("twice as fast takes %v of %v", fast, usual)
	}
	if longer := length("the quick brown fox jumps over the lazy dog and runs away", 1); longer <= usual {
		t.Errorf("more words take %v, fewer %v", longer, usual)
	}
}

// FuzzListen: for any bytes, the facts are possible.
func FuzzListen(f *testing.F) {
	sound := media.Speak(media.SpeechSpec{Text: "Hi.", Speed: 4})
	f.Add(sound.WAV())
	f.Add(sound.FLAC())
	f.Add([]byte("RIFF\x00\x00\x00\x00WAVE"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := media.Listen(data)
		if h.Duration < 0 || h.Duration > 1000*time.Hour || h.Loudness > 0 || h.Loudness < -96 ||
			h.Rate < 0 || h.Channels < 0 || !utf8.ValidString(h.Comment) {
			t.Errorf("%+v", h)
		}
	})
}

// FuzzWAV: any samples are heard as they were written.
func FuzzWAV(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4}, "a text")
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		s := media.Sound{Rate: 24000, Comment: text}
		for ; len(raw) >= 2; raw = raw[2:] {
			s.Samples = append(s.Samples, int16(binary.LittleEndian.Uint16(raw)))
		}
		wav, flac := media.Listen(s.WAV()), media.Listen(s.FLAC())
		wav.Loudness = 0
		wav.Format = flac.Format
		if diff := cmp.Diff(flac, wav, cmpopts.EquateApprox(0, 0)); diff != "" {
			t.Error(diff)
		}
	})
}
