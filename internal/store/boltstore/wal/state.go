package wal

// State is the database's own record of its log. A start records there how long the two files are before it writes the
// first group, and a clean stop that there are no files. So a start knows whether the files have to be there.
type State struct {
	ID     ID
	Seq    uint64   // of the newest group that the database has
	Sizes  [2]int64 // of the files at least; 0 if they may be missing
	Marked bool     // the first page of each file is a mark
}

// Open reports whether the log may have groups that the database lacks.
func (s State) Open() bool { return s.Sizes != [2]int64{} }

// first returns the offset of the first group of a file.
func (s State) first() int64 {
	if s.Marked {
		return PageSize
	}
	return 0
}
