package poster

// At is a program of a test's own.
func At(path string) *Maker { return &Maker{path} }
