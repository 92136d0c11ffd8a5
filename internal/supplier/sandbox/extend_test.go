package sandbox_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// film has the sandbox make a video, and returns it and the usage.
func film(t *testing.T, r supplier.Request) ([]byte, supplier.Usage) {
	t.Helper()
	a := mustNew(t, "sandbox-a", instant)
	o, err := a.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got := ready(t, a, o)
	if len(got.Files) != 1 || got.Files[0].ContentType != "video/mp4" {
		t.Fatalf("%+v", got.Files)
	}
	seen, ok := media.Watch(got.Files[0].Data)
	if f := got.Files[0]; !ok || seen.Width != f.Width || seen.Height != f.Height || math.Abs(seen.Seconds-f.Duration) > 0.001 {
		t.Errorf("the file is %d by %d, %v s; the result says %+v", seen.Width, seen.Height, seen.Seconds, f.Duration)
	}
	return got.Files[0].Data, got.Usage
}

// pictures returns the data of an MP4 file: its pictures, one after another.
func pictures(t *testing.T, data []byte) []byte {
	t.Helper()
	for len(data) >= 8 {
		size := binary.BigEndian.Uint32(data)
		if string(data[4:8]) == "mdat" {
			return data[8:size]
		}
		data = data[size:]
	}
	t.Fatal("no data")
	return nil
}

// TestExtend: a video of the sandbox goes on from its last picture, twice.
func TestExtend(t *testing.T) {
	t.Parallel()
	given, _ := film(t, with(request("video.generate", `{"prompt":"waves"}`, `{"duration_seconds":1,"aspect_ratio":"1:1","seed":3}`), "/image", picture(t, 40, 30)))
	for i := range 2 {
		longer, used := film(t, with(request("video.extend", `{"prompt":"the tide goes out"}`, `{"duration_seconds":1}`), "/video", given))
		if used != (supplier.Usage{Milliseconds: 1000}) {
			t.Errorf("usage %+v", used)
		}
		if seen, _ := media.Watch(longer); seen.Seconds != float64(i+2) || seen.Width != 720 || seen.Height != 720 {
			t.Errorf("%v s of %d by %d", seen.Seconds, seen.Width, seen.Height)
		}
		before, after := pictures(t, given), pictures(t, longer)
		if !bytes.HasPrefix(after, before) || len(after) == len(before) {
			t.Errorf("the first %d bytes of pictures aren't those of the given video", len(before))
		}
		given = longer
	}
}

// TestExtendAnother: of a video that the sandbox didn't make, or whose note isn't one of its own, the size and the
// length are kept.
func TestExtendAnother(t *testing.T) {
	t.Parallel()
	own, _ := film(t, request("video.generate", `{"prompt":"waves"}`, `{"duration_seconds":1}`))
	plain := own[:bytes.LastIndex(own, []byte("uuid"))-4]
	for name, given := range map[string][]byte{
		"without a note":    plain,
		"no note":           media.Noted(bytes.Clone(plain), []byte(`no JSON`)),
		"of another size":   media.Noted(bytes.Clone(plain), []byte(`{"width":64,"height":64,"seconds":1}`)),
		"of no length":      media.Noted(bytes.Clone(plain), []byte(`{"width":1280,"height":720,"seconds":-1}`)),
		"of a bad backdrop": media.Noted(bytes.Clone(plain), []byte(`{"width":1280,"height":720,"seconds":1,"backdrop":"AAAA"}`)),
	} {
		longer, used := film(t, with(request("video.extend", `{"prompt":"the tide goes out"}`, `{"duration_seconds":2}`), "/video", given))
		if seen, _ := media.Watch(longer); seen.Seconds != 3 || seen.Width != 1280 || seen.Height != 720 || used.Milliseconds != 2000 {
			t.Errorf("%s: %v s of %d by %d, %+v", name, seen.Seconds, seen.Width, seen.Height, used)
		}
	}
}

// TestExtendRefuses bytes that are no MP4, and what would become too long.
func TestExtendRefuses(t *testing.T) {
	t.Parallel()
	a := mustNew(t, "sandbox-a", instant)
	for name, given := range map[string][]byte{
		"WebM": []byte("\x1a\x45\xdf\xa3\x42\x82\x84webm"), "nothing": nil, "no length": []byte("\x00\x00\x00\x08moov"),
		"long": []byte("\x00\x00\x00\x24moov\x00\x00\x00\x1cmvhd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x72"),
	} {
		_, err := a.Submit(t.Context(), with(request("video.extend", `{"prompt":"x"}`, `{}`), "/video", given))
		if got := verdictOf(err); got != (verdict{supplier.Refused, fault.InvalidRequest}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// exampleOf returns the media value of the directory's example.
func exampleOf(t *testing.T, name catalog.Name, member string) []byte {
	t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := directory.Get(name)
	var body struct {
		Input map[string]json.RawMessage `json:"input"`
	}
	var value struct {
		Data []byte `json:"data"`
	}
	if err := json.Unmarshal(entry.Example, &body); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body.Input[member], &value); err != nil {
		t.Fatal(err)
	}
	return value.Data
}
