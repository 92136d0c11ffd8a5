package jsonread

// Members reads the members of one object that have known names, each at most once.
type Members struct {
	Name  string // of the member whose value is next
	in    *Reader
	known []string
	only  bool
	seen  uint64 // set of indexes of known, at most 64
}

// Only opens an object whose members are all known: any other is a failure.
func (r *Reader) Only(known ...string) Members {
	r.Open('{')
	return Members{in: r, known: known, only: true}
}

// Among opens an object and skips its other members. A name that a lenient decoder may take for a known one, which is
// in lower case, is a failure.
func (r *Reader) Among(known ...string) Members {
	r.Open('{')
	return Members{in: r, known: known}
}

// Next reports whether another known member follows, whose value the caller must read.
func (m *Members) Next() bool {
	for m.in.More('}') {
		name := m.in.Name()
		if m.isKnown(name) {
			return !m.in.failed
		}
		if m.only || m.resemblesKnown(name) {
			m.in.Fail()
		} else {
			m.in.Skip()
		}
	}
	return false
}

// isKnown reports whether name is known. It fails at a duplicate.
func (m *Members) isKnown(name []byte) bool {
	for i, known := range m.known {
		if string(name) != known {
			continue
		}
		if m.seen&(1<<i) != 0 {
			m.in.Fail()
		}
		m.Name, m.seen = known, m.seen|1<<i
		return true
	}
	return false
}

// resemblesKnown reports whether a lenient decoder may take name for a known one, regardless of case, dashes and
// underscores, and by Unicode's case folding.
func (m *Members) resemblesKnown(name []byte) bool {
	for _, known := range m.known {
		if resembles(name, known) {
			return true
		}
	}
	return false
}

func resembles(name []byte, known string) bool {
	i := 0
	for _, c := range name {
		if c == '_' || c == '-' {
			continue
		}
		for i < len(known) && known[i] == '_' {
			i++
		}
		switch {
		case c >= 0x80:
			return true // it may fold to ASCII
		case i == len(known) || c != known[i] && c|0x20 != known[i]:
			return false
		}
		i++
	}
	return i == len(known)
}
