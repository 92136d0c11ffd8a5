package artifact_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"unitask/internal/artifact"
)

// countedReader counts the reads.
type countedReader struct {
	io.ReaderAt

	reads int
}

func (r *countedReader) ReadAt(p []byte, at int64) (int, error) {
	r.reads++
	return r.ReaderAt.ReadAt(p, at)
}

func mp4Box(kind string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(append(b, kind...), body...)
}

// TestMeasureIsBounded: a film of many tracks with many boxes each costs no more than one of few.
func TestMeasureIsBounded(t *testing.T) {
	track := mp4Box("trak", bytes.Repeat(mp4Box("free", nil), 4000))
	film := append(mp4Box("ftyp", []byte("isomisom")), mp4Box("moov", bytes.Repeat(track, 50))...)
	r := &countedReader{ReaderAt: bytes.NewReader(film)}
	artifact.MeasureAt(r, int64(len(film)), "video/mp4")
	if r.reads < 4000 || r.reads > 5000 {
		t.Errorf("%d reads of %d bytes, want those of 4096 boxes", r.reads, len(film))
	}
}
