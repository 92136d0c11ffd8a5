// Package artifacttest is the suite that every artifact.Store passes, and files of each kind to keep.
package artifacttest

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// Start is the time of the store's clock.
var Start = time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)

// Two bodies of one type.
const (
	PNG1 = "\x89PNG\r\n\x1a\n" + "one"
	PNG2 = "\x89PNG\r\n\x1a\n" + "two"
)

const owner = "acct_1"

// Harness is a store for one test. Its clock stands at Start.
type Harness struct {
	Store artifact.Store
	// Hold wants the store to hold exactly these objects, and no remains of others.
	Hold func(t *testing.T, ids ...string)
	// KeepsDeleted says that an open object can be read to its end when it is deleted meanwhile.
	KeepsDeleted bool
}

// Run gives each test of the suite an empty store.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"PutAndRead", testPutAndRead},
		{"PutWithoutALimit", testPutWithoutALimit},
		{"OpenSeeks", testOpenSeeks},
		{"PutAgain", testPutAgain},
		{"PutRace", testPutRace},
		{"PutRefuses", testPutRefuses},
		{"PutKeepsErrors", testPutKeepsErrors},
		{"PutText", testPutText},
		{"BadIDs", testBadIDs},
		{"Sweep", testSweep},
		{"SweepAgain", testSweepAgain},
		{"SweepAtOnce", testSweepAtOnce},
		{"Shares", testShares},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// NewID returns an id for a result.
func NewID() string { return task.NewID(task.PrefixArtifact, Start) }

// Request keeps a body for an hour.
func Request(id, body string) artifact.PutRequest {
	return artifact.PutRequest{
		ID: id, Owner: owner, Body: strings.NewReader(body), Limit: 1 << 20, TTL: time.Hour,
		Source: artifact.FromCaller("input.image"),
	}
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// MustPut keeps an object.
func MustPut(t *testing.T, s artifact.Store, r artifact.PutRequest) artifact.Meta {
	t.Helper()
	m, err := s.Put(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// MustOpen returns an object with all of its bytes.
func MustOpen(t *testing.T, s artifact.Store, id string) (artifact.Meta, []byte) {
	t.Helper()
	m, r, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return m, body
}

// MustBlame wants the caller's input.image to be refused with the message.
func MustBlame(t *testing.T, err error, message string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", message)
	}
	got := fault.From(err)
	want := &fault.Error{Code: fault.InvalidRequest, Message: message, Details: []fault.Detail{
		{Field: "input.image", Message: strings.TrimPrefix(message, "input.image ")},
	}}
	if strings.Contains(message, "larger") {
		want.Aspect = fault.AspectSize
	}
	ignoreCause := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "cause" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(fault.Error{}), ignoreCause); diff != "" {
		t.Errorf("fault (-want +got):\n%s\n%v", diff, err)
	}
}
