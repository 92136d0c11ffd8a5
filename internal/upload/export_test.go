package upload

import (
	"context"
	"io"
)

// Internals for the tests.
const (
	PieceSize  = pieceSize
	LeastPiece = leastPiece
)

var (
	PieceID  = Upload.pieceID
	RecordID = recordID
)

// Receive takes an unchecked part, as a request does.
func (k *Keeper) Receive(ctx context.Context, id string, at int64, body io.Reader) (Upload, error) {
	return k.ReceivePart(ctx, id, Part{At: at, Body: body})
}

// ReceivePart takes a part, as a request does.
func (k *Keeper) ReceivePart(ctx context.Context, id string, p Part) (Upload, error) {
	u, err := k.Near(ctx, id, p.At)
	if err != nil {
		return u, err
	}
	return k.Take(ctx, u, p)
}
