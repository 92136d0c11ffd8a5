package artifact_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/artifact/artifacttest"
)

func TestSniffAndMeasure(t *testing.T) {
	media, _ := artifact.Types()
	seen := map[string]bool{}
	for _, s := range artifacttest.Samples(t) {
		t.Run(s.Name, func(t *testing.T) {
			got := artifacttest.Sample{Name: s.Name, Data: s.Data, Kind: artifact.Sniff(s.Data)}
			got.Width, got.Height, got.Seconds = artifact.Measure(s.Data, got.Kind)
			if diff := cmp.Diff(s, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
		seen[s.Kind] = true
	}
	for _, kind := range media {
		if !seen[kind] {
			t.Errorf("no sample of %s", kind)
		}
	}
}

func TestSniffRefuses(t *testing.T) {
	for name, head := range map[string]string{
		"nothing":         "",
		"html":            "<!doctype html><html>",
		"svg":             "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\">",
		"pdf":             "%PDF-1.7",
		"zip":             "PK\x03\x04",
		"program":         "\x7fELF\x02\x01\x01",
		"text":            "hello",
		"json":            `{"error":"no"}`,
		"avif":            "\x00\x00\x00\x1cftypavif\x00\x00\x00\x00",
		"heic":            "\x00\x00\x00\x1cftypheic\x00\x00\x00\x00",
		"quicktime":       "\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00",
		"matroska":        "\x1a\x45\xdf\xa3\x93\x42\x82\x88matroska",
		"avi":             "RIFF\x00\x00\x00\x00AVI LIST",
		"cut png":         "\x89PNG\r\n\x1a",
		"sync bits alone": "\xff\xff\xff\xff\xff\xff\xff\xff",
		"mp2":             "\xff\xfd\x90\x64",
		"utf-16":          "\xff\xfe<\x00h\x00t\x00",
	} {
		if got := artifact.Sniff([]byte(head)); got != "" {
			t.Errorf("%s is taken for %s", name, got)
		}
	}
}

// FuzzSniff: only a listed type, from the head alone, and never one that a browser reads as markup; and measuring
// such bytes ends with sane figures.
func FuzzSniff(f *testing.F) {
	for _, s := range artifacttest.Samples(f) {
		f.Add(s.Data)
	}
	media, _ := artifact.Types()
	f.Fuzz(func(t *testing.T, data []byte) {
		kind := artifact.Sniff(data)
		if kind != "" && !slices.Contains(media, kind) {
			t.Fatalf("sniffed %q", kind)
		}
		if got := artifact.Sniff(data[:min(len(data), artifact.SniffLen)]); got != kind {
			t.Errorf("the head alone is %q, the whole %q", got, kind)
		}
		if bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) && kind != "" {
			t.Errorf("markup is taken for %q", kind)
		}
		for _, kind := range media {
			width, height, seconds := artifact.Measure(data, kind)
			if width < 0 || height < 0 || !(seconds >= 0) || math.IsInf(seconds, 0) {
				t.Errorf("%s measures %d × %d, %v s", kind, width, height, seconds)
			}
		}
	})
}

// TestSuits: which of the kept types a media value of each kind may be of.
func TestSuits(t *testing.T) {
	for kind, want := range map[string]string{
		"image": "image/png", "audio": "audio/wav video/mp4 video/webm", "video": "video/mp4 video/webm", "document": "application/pdf",
		"file": "image/png audio/wav video/mp4 video/webm application/pdf",
	} {
		var got []string
		for _, contentType := range []string{"image/png", "audio/wav", "video/mp4", "video/webm", "application/pdf"} {
			if artifact.Suits(kind, contentType) {
				got = append(got, contentType)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", kind, got, want)
		}
	}
}
