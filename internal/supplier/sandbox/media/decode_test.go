package media_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier/sandbox/media"
)

// mustTool runs one of FFmpeg's programs, which have to be there in CI, and returns its output.
func mustTool(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("%s is not installed: decoding is not checked", name)
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{"-v", "error"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("%s %v: %v: %s", name, args, err, stderr.Bytes())
	}
	return stdout.Bytes()
}

// mustFile writes data to a file of its own.
func mustFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProbeAgreesAboutAVideo(t *testing.T) {
	t.Parallel()
	spec := media.VideoSpec{Prompt: "waves", Width: 1920, Height: 1080, Seconds: 1.5, Sound: true}
	path := mustFile(t, "a.mp4", media.Video(spec))
	got := string(mustTool(t, "ffprobe", "-of", "compact=p=0", "-show_entries",
		"stream=codec_name,profile,width,height,level,sample_rate,duration,nb_frames", path))
	want := []string{
		"codec_name=h264|profile=Constrained Baseline|width=1920|height=1080|level=40|duration=1.500000|nb_frames=36",
		"codec_name=flac|profile=unknown|sample_rate=24000|duration=1.500000|nb_frames=9",
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(got), "\n")); diff != "" {
		t.Error(diff)
	}
}

// Each decoded picture is exactly the scene's.
func TestDecodedPicturesAreTheScenes(t *testing.T) {
	t.Parallel()
	backdrop := media.Draw(media.PictureSpec{Prompt: "orbs", Seed: 3, Width: 300, Height: 200})
	for name, spec := range map[string]media.VideoSpec{
		"wide":             {Prompt: "waves", Width: 848, Height: 480, Seconds: 3, Sound: true},
		"upright":          {Prompt: "a fast sun", Width: 480, Height: 848, Seconds: 0.75},
		"cropped backdrop": {Prompt: "green", Width: 488, Height: 360, Seconds: 1, Backdrop: backdrop},
		"small":            {Prompt: "tiny", Width: 128, Height: 128, Seconds: 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := mustFile(t, "a.mp4", media.Video(spec))
			raw := mustTool(t, "ffmpeg", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-")
			size := spec.Width * spec.Height * 3 / 2
			if got, want := len(raw)/size, int(spec.Length().Seconds()*24+0.5); got != want || len(raw)%size != 0 {
				t.Fatalf("%d pictures and %d bytes, want %d", got, len(raw)%size, want)
			}
			for number := 0; number < len(raw)/size; number += 7 {
				if got := worst(spec, raw[number*size:][:size], number); got > 0 {
					t.Fatalf("picture %d: a sample is off by %d", number, got)
				}
			}
			if last := raw[len(raw)-size:]; bytes.Equal(last, raw[:size]) {
				t.Error("nothing moves")
			}
		})
	}
}

// worst is the greatest difference of a decoded picture from the scene's.
func worst(spec media.VideoSpec, decoded []byte, number int) int {
	planes, strides := media.Planes(spec, number)
	off := 0
	for i, plane := range planes {
		w, h := spec.Width, spec.Height
		if i > 0 {
			w, h = w/2, h/2
		}
		for y := range h {
			for x := range w {
				d := int(decoded[y*w+x]) - int(plane[y*strides[i]+x])
				off = max(off, d, -d)
			}
		}
		decoded = decoded[w*h:]
	}
	return off
}

func TestDecodedSoundIsTheSamples(t *testing.T) {
	t.Parallel()
	sounds := map[string]media.Sound{
		"speech": media.Speak(media.SpeechSpec{Text: "One, two, three. Four!", Speed: 1}),
		"noise":  {Rate: 24000, Samples: make([]int16, 5000)},
		"single": {Rate: 24000, Samples: []int16{-32768}, Comment: "a click"},
	}
	for i := range sounds["noise"].Samples {
		sounds["noise"].Samples[i] = int16(uint32(i*i) * 2654435761 >> 9)
	}
	for name, sound := range sounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []byte
			for _, v := range sound.Samples {
				want = binary.LittleEndian.AppendUint16(want, uint16(v))
			}
			for suffix, data := range map[string][]byte{"wav": sound.WAV(), "flac": sound.FLAC()} {
				got := mustTool(t, "ffmpeg", "-i", mustFile(t, "a."+suffix, data), "-f", "s16le", "-")
				if !bytes.Equal(got, want) {
					t.Errorf("%s: %d bytes decoded differ from %d", suffix, len(got), len(want))
				}
			}
		})
	}
}

func TestProbeAgreesAboutPictures(t *testing.T) {
	t.Parallel()
	img := media.Draw(media.PictureSpec{Prompt: "a red fox", Width: 320, Height: 200})
	for _, format := range media.Formats() {
		data, err := media.Encode(img, format, media.Medium)
		if err != nil {
			t.Fatal(err)
		}
		got := string(mustTool(t, "ffprobe", "-of", "csv=p=0", "-show_entries", "stream=width,height",
			mustFile(t, "a."+format, data)))
		if want := fmt.Sprintln("320,200"); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}
