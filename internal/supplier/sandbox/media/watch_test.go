package media_test

import (
	"bytes"
	"testing"

	"unitask/internal/supplier/sandbox/media"
)

// FuzzWatch: whatever the bytes are, a note that is added to a whole file is found again.
func FuzzWatch(f *testing.F) {
	f.Add(media.Video(media.VideoSpec{Width: 128, Height: 128, Seconds: 0.1}))
	f.Add([]byte("\x00\x00\x00\x08moov\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x10"))
	f.Add([]byte("\x00\x00\x00\x00uuid"))
	f.Fuzz(func(t *testing.T, data []byte) {
		film, ok := media.Watch(data)
		if film.Seconds < 0 || film.Width < 0 || film.Height < 0 || ok && len(data) < 8 {
			t.Errorf("%+v, %t", film, ok)
		}
		whole := append([]byte("\x00\x00\x00\x08moov"), media.Noted(nil, data)...)
		if film, ok := media.Watch(whole); !ok || !bytes.Equal(film.Note, data) {
			t.Errorf("noted %q, read %q, %t", data, film.Note, ok)
		}
	})
}
