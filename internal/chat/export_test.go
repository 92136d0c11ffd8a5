package chat

import "os"

// Writing has lines written by another function, which may fail, and returns the former one.
func (s *Store) Writing(write func(*os.File, []byte) error) func(*os.File, []byte) error {
	former := s.append
	s.append = write
	return former
}
