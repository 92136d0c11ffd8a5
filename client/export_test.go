package client

// ParseRetryAfter is parseRetryAfter for tests.
var ParseRetryAfter = parseRetryAfter
