package requestlog

// The forms of a line, for the fuzz test.
var (
	AppendEntry = appendEntry
	ParseEntry  = parseEntry
)

// Break makes every write from now on fail.
func Break(l *Log) error {
	l.Flush()
	return l.file.Close()
}

// The bounds that tests reach.
const (
	RefusedMost = refusedMost
	BufferMost  = bufferMost
)
