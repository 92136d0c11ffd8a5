package poster_test

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/picture/poster"
)

// film makes a film with the program itself.
func film(t *testing.T, name string, codec ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args := append([]string{"-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x180:d=0.2:r=10"}, codec...)
	if out, err := exec.CommandContext(t.Context(), "ffmpeg", append(args, path)...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v\n%s", err, out)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestFrame takes the first picture out of films; other files are an error, also a list that names a film.
func TestFrame(t *testing.T) {
	m := poster.Here()
	if m == nil && os.Getenv("CI") == "true" {
		t.Fatal("ffmpeg isn't installed")
	} else if m == nil {
		t.Skip("there is no ffmpeg")
	}
	mp4 := film(t, "film.mp4", "-c:v", "mpeg4")
	for name, raw := range map[string][]byte{"mp4": mp4, "webm": film(t, "film.mkv", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p")} {
		got, err := m.Frame(t.Context(), raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		img, err := png.Decode(bytes.NewReader(got))
		if err != nil || img.Bounds().Dx() != 320 || img.Bounds().Dy() != 180 {
			t.Errorf("%s: %v, a picture of %v", name, err, img)
		}
	}
	for name, raw := range map[string][]byte{
		"empty": nil, "a playlist": []byte("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"), "cut off": mp4[:40], "a list of files": []byte("ffconcat version 1.0\nfile '/etc/passwd'\n"),
		"no film": append([]byte("\x00\x00\x00\x10ftypisom"), bytes.Repeat([]byte("x"), 1000)...),
	} {
		if got, err := m.Frame(t.Context(), raw); err == nil {
			t.Errorf("%s: a picture of %d bytes", name, len(got))
		}
	}
}

// program is a program of a test's own in the place of ffmpeg.
func program(t *testing.T, script string) *poster.Maker {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ffmpeg")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return poster.At(path)
}

var anyFilm = []byte("\x00\x00\x00\x10ftypisom and so on")

// TestBounds: the program is ended if it writes without an end or takes too long, and it sees no environment.
func TestBounds(t *testing.T) {
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("there is no shell")
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("UNITASK_API_KEY", "svc_live_secret")
	if _, err := program(t, "exec /bin/cat /dev/zero").Frame(t.Context(), anyFilm); err == nil ||
		err.Error() != "the picture is too large" {
		t.Errorf("an endless picture: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := program(t, "exec /bin/sleep 600").Frame(ctx, anyFilm); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a slow program: %v", err)
	}
	got, err := program(t, "export -p; echo \"$PWD $*\"").Frame(t.Context(), anyFilm)
	if err != nil || bytes.Contains(got, []byte("svc_live_secret")) || !bytes.Contains(got, []byte("-protocol_whitelist file -f mov -i file:")) {
		t.Errorf("%v, the program sees:\n%s", err, got)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "unitask-film-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
