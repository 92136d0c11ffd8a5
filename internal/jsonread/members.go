package jsonread

// Members are those of one object that have known names, each at most once.
type Members struct {
	Name  string // of the member whose value comes
	in    *Reader
	known []string
	only  bool
	seen  uint64 // which of known, at most 64
}

// Only enters an object that has no members but the known ones: any other is a failure.
func (r *Reader) Only(known ...string) Members {
	r.Open('{')
	return Members{in: r, known: known, only: true}
}

// Among enters an object and passes over its other members. A name that a lenient reader may take for a known one,
// which is in lower case, is a failure.
func (r *Reader) Among(known ...string) Members {
	r.Open('{')
	return Members{in: r, known: known}
}

// Next goes on to the next known member, whose value is to be read then; false: there is none.
func (m *Members) Next() bool {
	for m.in.More('}') {
		name := m.in.Name()
		if m.is(name) {
			return !m.in.bad
		}
		if m.only || m.like(name) {
			m.in.Fail()
		} else {
			m.in.Skip()
		}
	}
	return false
}

// is reports whether name is known. It fails at one that has been before.
func (m *Members) is(name []byte) bool {
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

// like reports whether a lenient reader may take name for a known one: whatever the case, without regard to
// dashes and underscores, and by the folding of Unicode.
func (m *Members) like(name []byte) bool {
	for _, known := range m.known {
		if like(name, known) {
			return true
		}
	}
	return false
}

func like(name []byte, known string) bool {
	at := 0
	for _, c := range name {
		if c == '_' || c == '-' {
			continue
		}
		for at < len(known) && known[at] == '_' {
			at++
		}
		switch {
		case c >= 0x80:
			return true // for all we know
		case at == len(known) || c != known[at] && c|0x20 != known[at]:
			return false
		}
		at++
	}
	return at == len(known)
}
