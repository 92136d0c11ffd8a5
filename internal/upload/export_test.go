package upload

// Internals for the tests.
const PieceSize = pieceSize

var (
	PieceID  = pieceID
	RecordID = recordID
)
