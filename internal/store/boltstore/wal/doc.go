// Package wal is the write-ahead log of a store: a group of changes is kept once it stands here, after one write and one
// sync, and the database takes many groups at once later. It knows no changes, only groups of bytes.
//
// Two files alternate: while the database takes the groups of one, new groups go to the other. They are written over in
// place, so that a sync has no sizes to write, and a full disk takes no room from work under way.
//
// A group is a head and its bytes, padded to whole pages: a page is never written twice, because a power cut in the
// middle of that could damage acknowledged bytes. The head is the CRC-32C of the bytes after it up to the end of the
// padding, the length of the group, the store's identity and the group's number, which is one more than that of the
// group before.
//
// The first page of each file is a mark: the number of a group that is kept, which the other file has. It is written
// once the group's sync has ended and waits for no sync itself, so that it may be behind and never ahead. A group that
// it names and that isn't there was lost, and not merely torn off.
//
// A Log is used by one goroutine. Read and ReadWhole may be called on files that no Log has open.
package wal
