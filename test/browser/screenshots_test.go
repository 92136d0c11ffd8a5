package browser_test

import (
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// largestPicture is how many bytes a screenshot may have: they are in every clone.
const largestPicture = 150 << 10

// TestScreenshots: every picture that the page about the console shows is there, and no other.
func TestScreenshots(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "console.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, found := range regexp.MustCompile(`\(screenshots/([a-z0-9-]+\.png)\)`).FindAllSubmatch(text, -1) {
		shown[string(found[1])] = true
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "screenshots", "*"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d screenshots, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if !shown[name] {
			t.Errorf("docs/console.md doesn't show %s", name)
		}
		delete(shown, name)
		judgePicture(t, file)
	}
	for name := range shown {
		t.Errorf("docs/console.md shows %s, which isn't there", name)
	}
}

func judgePicture(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := png.DecodeConfig(f); err != nil || c.Width < 390 || info.Size() > largestPicture {
		t.Errorf("%s: %d bytes, %d pixels wide, %v", file, info.Size(), c.Width, err)
	}
}
