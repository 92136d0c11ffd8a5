package boltstore

// RefuseFilesystem is the verdict on a file system's magic number.
var RefuseFilesystem = refuseFilesystem
