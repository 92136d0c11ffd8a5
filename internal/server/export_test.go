package server

// What the fuzz tests of the decoders need.
var (
	IdempotencyKey = idempotencyKey
	PreferredWait  = preferredWait
	CheckMediaType = checkMediaType
	ParseListQuery = parseListQuery
	Clean          = clean
)

// KnownRevision returns the revision that an If-None-Match names.
var KnownRevision = known.revision

// ParseIfNoneMatch reads an If-None-Match.
var ParseIfNoneMatch = parseIfNoneMatch
