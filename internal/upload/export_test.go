package upload

// Internals for the tests.
const PieceSize = pieceSize

var (
	PieceID  = Upload.pieceID
	RecordID = recordID
)
