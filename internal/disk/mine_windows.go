package disk

import "io/fs"

// mine passes: owners are in access control lists there.
func mine(fs.FileInfo) bool { return true }
