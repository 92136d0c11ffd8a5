package upload_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"testing"
	"testing/iotest"

	"unitask/internal/fault"
	"unitask/internal/upload"
)

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// testPartDiffers sends a file in parts with their hashes. One that arrives with another byte, and one that is cut off, is
// dropped whole, as a node that starts sees it too; what was there before stays.
func testPartDiffers(t *testing.T, b *bench) {
	body := file(2*upload.PieceSize + 1000)
	u := b.begin(announce(body))
	begins := []int{0, upload.LeastPiece, upload.PieceSize, 2 * upload.PieceSize, len(body)}
	for i, at := range begins[:4] {
		part := body[at:begins[i+1]]
		for _, wrong := range []int{0, len(part) / 2, len(part) - 1} {
			damaged := bytes.Clone(part)
			damaged[wrong] ^= 1
			got, err := b.nodes[0].ReceivePart(t.Context(), u.ID, partOf(at, bytes.NewReader(damaged), part))
			mustConflict(t, err, "Content-Digest", strconv.Itoa(at))
			b.wantReceived(u, got, at)
			got, err = b.nodes[1].ReceivePart(t.Context(), u.ID, partOf(at, cutAt(part, wrong), part))
			if fault.CodeOf(err) != fault.InvalidRequest || fault.From(err).Aspect == fault.AspectConflict {
				t.Errorf("cut off after %d bytes: %v", wrong, err)
			}
			b.wantReceived(u, got, at)
		}
		got, err := b.nodes[i%2].ReceivePart(t.Context(), u.ID, partOf(at, iotest.HalfReader(bytes.NewReader(part)), part))
		if err != nil || got.Received != int64(begins[i+1]) {
			t.Fatalf("the part at %d: %+v, %v", at, got, err)
		}
	}
	if got, err := b.nodes[0].Get(t.Context(), u.ID); err != nil || !got.Complete {
		t.Errorf("in the end: %+v, %v", got, err)
	}
}

func partOf(at int, body io.Reader, sent []byte) upload.Part {
	return upload.Part{At: int64(at), Body: body, SHA256: sumOf(sent)}
}

// wantReceived wants so many bytes to be here, by a process's own answer and for one that starts.
func (b *bench) wantReceived(u, got upload.Upload, want int) {
	b.t.Helper()
	now, err := b.node(healthy).Get(b.t.Context(), u.ID)
	if got.Received != int64(want) || err != nil || now.Received != int64(want) {
		b.t.Fatalf("%d bytes are received, and %d for a node that starts, %v, want %d", got.Received, now.Received, err, want)
	}
}

// testNear: a wrong expectation of how much has arrived changes no answer.
func testNear(t *testing.T, b *bench) {
	body := file(2*upload.PieceSize + 1000)
	u := b.begin(announce(body))
	for _, received := range []int{0, upload.LeastPiece + 1, upload.PieceSize - 1, upload.PieceSize, 2 * upload.PieceSize} {
		now := mustReceived(t, b, u)
		if _, err := b.nodes[0].Receive(t.Context(), u.ID, now, cutAt(body[now:], received-int(now))); fault.CodeOf(err) != fault.InvalidRequest {
			t.Fatal(err)
		}
		for _, expected := range []int64{
			-1, 0, 1, upload.LeastPiece, upload.LeastPiece + 1, upload.PieceSize - 1, upload.PieceSize, upload.PieceSize + 1,
			2*upload.PieceSize - 1, 2 * upload.PieceSize, 2*upload.PieceSize + 1, u.Bytes, u.Bytes + 1, 1 << 62,
		} {
			if got, err := b.nodes[1].Near(t.Context(), u.ID, expected); err != nil || got.Received != int64(received) {
				t.Errorf("%d of %d bytes received where %d were expected, %v", got.Received, received, expected, err)
			}
		}
	}
	asked := 0
	counting := b.node(func(call string) error {
		if asked++; asked > 4 {
			return errors.New("asked " + call + " too often")
		}
		return nil
	})
	if got, err := counting.Near(t.Context(), u.ID, 2*upload.PieceSize); err != nil || got.Received != 2*upload.PieceSize {
		t.Errorf("expected rightly: %+v, %v", got, err)
	}
}
