package upload

// Internals for the tests.
const (
	PieceSize  = pieceSize
	LeastPiece = leastPiece
)

var (
	PieceID  = Upload.pieceID
	RecordID = recordID
)
