package save

import (
	"errors"
	"io"
	"os"
	"testing"
)

func TestFileName(t *testing.T) {
	folder := t.TempDir()
	tests := []struct {
		output, contentType string
		n                   int
		want                string
	}{
		{"fox.png", "image/png", 1, "fox.png"},
		{"fox.png", "image/jpeg", 2, "fox-2.png"},
		{"waves.*", "video/mp4", 1, "waves.mp4"},
		{"waves.*", "video/webm; codecs=vp9", 3, "waves-3.webm"},
		{"waves.*", "application/x-new", 1, "waves.bin"},
		{"out/", "audio/wav", 1, "out/task_1.wav"},
		{"out/", "text/plain; charset=utf-8", 2, "out/task_1-2.txt"},
		{folder, "image/png", 1, folder + "/task_1.png"},
		{"a.b/fox", "image/png", 2, "a.b/fox-2"},
	}
	for _, tt := range tests {
		if got := fileName(tt.output, "task_1", tt.contentType, tt.n); got != tt.want {
			t.Errorf("fileName(%q, %q, %d) = %q, want %q", tt.output, tt.contentType, tt.n, got, tt.want)
		}
	}
}

func TestWriteFileKeepsDevices(t *testing.T) {
	before, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	p := Part{Data: []byte("x")}
	if err := WriteFile(os.DevNull, func(w io.Writer) error { return p.Write(t.Context(), nil, w) }); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("%s was replaced", os.DevNull)
	}
}

func TestWriteFileLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	err := WriteFile(dir+"/a.png", func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return errors.New("broken")
	})
	left, readErr := os.ReadDir(dir)
	if err == nil || readErr != nil || len(left) != 0 {
		t.Errorf("%v, %d files left, want an error and none", err, len(left))
	}
}
