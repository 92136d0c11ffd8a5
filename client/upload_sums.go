package client

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
)

// partEnd is where the part ends that begins at an offset, unless the file does before.
func partEnd(at int64) int64 {
	if at == 0 {
		return firstPart
	}
	return (at/partSize + 1) * partSize
}

// sums hashes a file and each of its parts in one reading, so that a part is sent with its hash and read once more.
type sums struct {
	whole, part hash.Hash
	begin, at   int64 // where the part under way begins, and how much is written
	parts       map[int64][]byte
}

func newSums() *sums {
	return &sums{whole: sha256.New(), part: sha256.New(), parts: map[int64][]byte{}}
}

// Write implements io.Writer.
func (s *sums) Write(b []byte) (int, error) {
	_, _ = s.whole.Write(b)
	for rest := b; len(rest) > 0; {
		n := min(int64(len(rest)), partEnd(s.begin)-s.at)
		_, _ = s.part.Write(rest[:n])
		rest, s.at = rest[n:], s.at+n
		if s.at == partEnd(s.begin) {
			s.end()
		}
	}
	return len(b), nil
}

// end keeps the hash of the part that ends here.
func (s *sums) end() {
	s.parts[s.begin] = s.part.Sum(nil)
	s.part.Reset()
	s.begin = s.at
}

// all returns the hash of each part of the file that has been written.
func (s *sums) all() map[int64][]byte {
	if s.at > s.begin {
		s.end()
	}
	return s.parts
}

// unchanged reads the part at an offset again, and returns an error if it isn't the one that was hashed.
func (u *upload) unchanged(at int64) error {
	if _, err := u.from.Seek(at, io.SeekStart); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(u.from, partEnd(at)-at)); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), u.parts[at]) {
		return errors.New("it has changed since it was hashed")
	}
	return nil
}
