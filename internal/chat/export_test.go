package chat

import "os"

// Writing has lines written by another function, which may fail.
func (s *Store) Writing(write func(*os.File, []byte) error) { s.append = write }
