package upload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/artifact/s3store"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/fault"
	"unitask/internal/upload"
	"unitask/test/fixture"
)

func TestMain(m *testing.M) {
	for _, variable := range s3test.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

const owner = "acct_1/live"

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// keeping is a store that keeps shares too.
type keeping interface {
	artifact.Store
	artifact.Shares
}

// clock is a time that tests set.
type clock struct{ after atomic.Int64 }

func (c *clock) now() time.Time { return start.Add(time.Duration(c.after.Load())) }

// bench is uploads on one store, for one test.
type bench struct {
	t     *testing.T
	store keeping
	clock *clock
	nodes [2]*upload.Keeper // of one store
}

func newBench(t *testing.T, open func(t *testing.T, now func() time.Time) keeping, limits upload.Limits) *bench {
	t.Helper()
	b := &bench{t: t, clock: &clock{}}
	for i := range b.nodes {
		store := open(t, b.clock.now)
		if i == 0 {
			b.store = store
		}
		b.nodes[i] = fixture.Must(upload.New(upload.Config{Artifacts: store, Shares: store, Limits: limits, Now: b.clock.now}))(t)
	}
	return b
}

// file is so many bytes of a PNG.
func file(n int) []byte {
	body := make([]byte, n)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(body)
	copy(body, "\x89PNG\r\n\x1a\n")
	return body
}

func announce(body []byte) upload.Announcement {
	sum := sha256.Sum256(body)
	return upload.Announcement{ContentType: "image/png", Bytes: int64(len(body)), SHA256: hex.EncodeToString(sum[:])}
}

func (b *bench) begin(a upload.Announcement) upload.Upload {
	b.t.Helper()
	u, created, err := b.nodes[0].Begin(b.t.Context(), owner, a)
	if err != nil || !created {
		b.t.Fatalf("%+v, new: %t, %v", u, created, err)
	}
	return u
}

// settled wants the store to hold no input, which are the records and pieces, and these shares.
func (b *bench) settled(u upload.Upload, shares ...artifact.Share) {
	b.t.Helper()
	for _, id := range []string{upload.RecordID(u.ID), upload.PieceID(u, 0), upload.PieceID(u, upload.PieceSize)} {
		if _, err := b.store.Stat(b.t.Context(), id); fault.CodeOf(err) != fault.NotFound {
			b.t.Errorf("%s: %v, want NOT_FOUND", id, err)
		}
	}
	got, err := b.store.SharesOf(b.t.Context(), owner)
	if diff := cmp.Diff(shares, got); diff != "" || err != nil {
		b.t.Errorf("shares (-want +got):\n%s%v", diff, err)
	}
}

// mustConflict wants a refusal that tells how much has arrived.
func mustConflict(t *testing.T, err error, field, received string) {
	t.Helper()
	f := fault.From(err)
	if f == nil || f.Aspect != fault.AspectConflict || f.Details[0].Field != field || f.Details[1] != (fault.Detail{Field: "received", Message: received}) {
		t.Errorf("%v, want a conflict about %s with %s received", err, field, received)
	}
}

// TestKeeper runs each test on both stores.
func TestKeeper(t *testing.T) {
	tests := []struct {
		name   string
		limits upload.Limits
		run    func(t *testing.T, b *bench)
	}{
		{"Resumed", upload.Limits{}, testResumed},
		{"HashDiffers", upload.Limits{}, testHashDiffers},
		{"PartDiffers", upload.Limits{}, testPartDiffers},
		{"Near", upload.Limits{}, testNear},
		{"BeliesItsType", upload.Limits{}, testBelies},
		{"Texts", upload.Limits{}, testTexts},
		{"AtOnce", upload.Limits{}, testAtOnce},
		{"CrashBeforeTheArtifact", upload.Limits{}, testCrash},
		{"Quota", upload.Limits{Quota: 100}, testQuota},
		{"QuotaAdvice", upload.Limits{Quota: 100, TTL: 48 * time.Hour}, testQuotaAdvice},
		{"QuotaLowered", upload.Limits{Quota: 100}, testQuotaLowered},
		{"List", upload.Limits{TTL: 48 * time.Hour}, testList},
		{"QuotaAtOnce", upload.Limits{Quota: 100}, testQuotaAtOnce},
		{"Expires", upload.Limits{TTL: 48 * time.Hour}, testExpires},
		{"Deleted", upload.Limits{}, testDeleted},
		{"EndsUnderWay", upload.Limits{}, testEndsUnderWay},
		{"LatePiece", upload.Limits{}, testLatePiece},
		{"CrashAnywhere", upload.Limits{Quota: 1000}, testCrashAnywhere},
		{"DeletedAnywhere", upload.Limits{Quota: 1000}, testDeletedAnywhere},
		{"CompletedAnywhere", upload.Limits{Quota: 1000}, testCompletedAnywhere},
		{"AnnouncedAtOnce", upload.Limits{Quota: 1000}, testAnnouncedAtOnce},
		{"OfOthers", upload.Limits{}, testOfOthers},
	}
	t.Run("folder", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				var folder keeping // of one process
				tt.run(t, newBench(t, func(t *testing.T, now func() time.Time) keeping {
					if folder == nil {
						folder = fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir(), Now: now}))(t)
					}
					return folder
				}, tt.limits))
			})
		}
	})
	t.Run("s3", func(t *testing.T) {
		server := s3test.Start(t)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				tt.run(t, newBench(t, func(t *testing.T, now func() time.Time) keeping {
					place := artifact.Bucket{Name: s3test.Bucket, Prefix: tt.name, Endpoint: server.Endpoint(), PathStyle: true}
					return fixture.Must(s3store.New(t.Context(), s3store.Config{Bucket: place, Dir: t.TempDir(), Now: now}))(t)
				}, tt.limits))
			})
		}
	})
}

// cutAt is a body that breaks off after n bytes.
func cutAt(body []byte, n int) io.Reader {
	return io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(io.ErrUnexpectedEOF))
}

// testResumed: what arrives before a cut counts, on whichever node; the last byte makes the artifact.
func testResumed(t *testing.T, b *bench) {
	body := file(2*upload.PieceSize + 1000)
	u := b.begin(announce(body))
	if u.Received != 0 || u.Complete || u.ExpiresAt != start.Add(24*time.Hour) {
		t.Errorf("begun: %+v", u)
	}
	at := 0
	for i, tt := range []struct{ sent, kept int }{
		{100, 0},
		{upload.LeastPiece - 1, 0},
		{upload.LeastPiece, upload.LeastPiece},
		{upload.PieceSize - 2*upload.LeastPiece + 1, upload.PieceSize - 2*upload.LeastPiece + 1},
		{upload.LeastPiece - 1, upload.LeastPiece - 1},
		{0, 0},
		{upload.PieceSize + 100, upload.PieceSize},
	} {
		node := b.nodes[i%2]
		got, err := node.Receive(t.Context(), u.ID, int64(at), cutAt(body[at:], tt.sent))
		at += tt.kept
		if fault.CodeOf(err) != fault.InvalidRequest || got.Received != int64(at) {
			t.Fatalf("cut %d: %+v, %v, want %d received", i, got, err, at)
		}
		got, err = b.nodes[(i+1)%2].Get(t.Context(), u.ID)
		if err != nil || got.Received != int64(at) || got.Complete {
			t.Fatalf("after cut %d the other node has %+v, %v, want %d received", i, got, err, at)
		}
	}
	_, err := b.nodes[0].Receive(t.Context(), u.ID, 0, bytes.NewReader(body))
	mustConflict(t, err, "Content-Range", "16777216")
	same, created, err := b.nodes[1].Begin(t.Context(), owner, announce(body))
	if err != nil || created || same.ID != u.ID || same.Received != int64(at) {
		t.Fatalf("announced again: %+v, new: %t, %v", same, created, err)
	}
	got, err := b.nodes[1].Receive(t.Context(), u.ID, int64(at), bytes.NewReader(body[at:at+10]))
	if err != nil || got.Received != int64(at) || got.Complete {
		t.Fatalf("a small part alone: %+v, %v", got, err)
	}
	got, err = b.nodes[0].Receive(t.Context(), u.ID, int64(at), bytes.NewReader(body[at:]))
	want := upload.Upload{
		ID: u.ID, Owner: owner, Announcement: announce(body), CreatedAt: start, ExpiresAt: start.Add(7 * 24 * time.Hour),
		Received: int64(len(body)), Complete: true,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("completed (-want +got):\n%s%v", diff, err)
	}
	m, r, err := b.store.Open(t.Context(), u.ID)
	if err != nil || !m.Upload {
		t.Fatal(m, err)
	}
	defer func() { _ = r.Close() }()
	if kept, err := io.ReadAll(r); err != nil || !bytes.Equal(kept, body) {
		t.Errorf("the artifact has other bytes, %v", err)
	}
	b.settled(u, artifact.Share{ID: u.ID, Bytes: int64(len(body)), Until: want.ExpiresAt})
	again, err := b.nodes[1].Receive(t.Context(), u.ID, 0, iotest.ErrReader(errors.New("read")))
	if err != nil || !again.Complete {
		t.Errorf("sent again: %+v, %v", again, err)
	}
}

func testHashDiffers(t *testing.T, b *bench) {
	body := file(upload.PieceSize + 10)
	u := b.begin(announce(body))
	body[upload.PieceSize+5]++
	_, err := b.nodes[0].Receive(t.Context(), u.ID, 0, bytes.NewReader(body))
	mustConflict(t, err, "sha256", "0")
	if got, err := b.nodes[1].Get(t.Context(), u.ID); err != nil || got.Received != 0 || got.Complete {
		t.Errorf("after that: %+v, %v", got, err)
	}
	body[upload.PieceSize+5]--
	if got, err := b.nodes[1].Receive(t.Context(), u.ID, 0, bytes.NewReader(body)); err != nil || !got.Complete {
		t.Errorf("the announced bytes: %+v, %v", got, err)
	}
}

// testBelies refuses bytes of another type with the first of them, and those of none that is kept.
func testBelies(t *testing.T, b *bench) {
	for _, text := range []string{"\xff\xd8\xff and so on", "<svg>", "%PDF-1.7"} {
		u := b.begin(announce([]byte(text)))
		_, err := b.nodes[0].Receive(t.Context(), u.ID, 0, strings.NewReader(text))
		mustConflict(t, err, "content_type", "0")
	}
	text := "\xff\xd8\xff"
	u := b.begin(announce([]byte(text)))
	_, err := b.nodes[0].Receive(t.Context(), u.ID, 0, iotest.OneByteReader(strings.NewReader(text)))
	mustConflict(t, err, "content_type", "0")
}

// testTexts takes what a document may be, and none that only begins as one.
func testTexts(t *testing.T, b *bench) {
	for _, tt := range []struct {
		kind, text string
		taken      bool
	}{
		{"text/plain; charset=utf-8", "hello", true},
		{"text/markdown", "# Notes", true},
		{"application/pdf", "%PDF-1.7 and on", true},
		{"text/plain", strings.Repeat("x", 1000) + "\xff", false},
		{"text/plain", "%PDF-1.7 and on", false},
		{"application/pdf", "%PDF-1.7 /Encrypt 5 0 R", false},
		{"application/pdf", "hello", false},
	} {
		a := announce([]byte(tt.text))
		a.ContentType = tt.kind
		u := b.begin(a)
		got, err := b.nodes[0].Receive(t.Context(), u.ID, 0, strings.NewReader(tt.text))
		if !tt.taken {
			mustConflict(t, err, "content_type", "0")
			continue
		}
		kind, _, _ := strings.Cut(tt.kind, ";")
		m, missing := b.store.Stat(t.Context(), u.ID)
		if err != nil || missing != nil || !got.Complete || m.ContentType != kind {
			t.Errorf("%s %q: %+v, %v, %+v, %v", tt.kind, tt.text, got, err, m, missing)
		}
	}
}

// testAtOnce has many send the same upload at once, each as its own client would: they ask, go on and are cut off.
func testAtOnce(t *testing.T, b *bench) {
	body := file(upload.PieceSize + 77)
	u := b.begin(announce(body))
	var all sync.WaitGroup
	for i := range 4 {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		all.Go(func() {
			for try := range 40 {
				node := b.nodes[(i+try)%2]
				now, err := node.Get(t.Context(), u.ID)
				if err != nil && fault.CodeOf(err) != fault.CapacityExhausted {
					t.Error(err)
					return
				}
				if now.Complete {
					return
				}
				rest := body[now.Received:]
				_, err = node.Receive(t.Context(), u.ID, now.Received, cutAt(rest, random.IntN(len(rest)+1)))
				if f := fault.From(err); f != nil && f.Code != fault.InvalidRequest && f.Code != fault.CapacityExhausted {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	now, err := b.nodes[0].Receive(t.Context(), u.ID, mustReceived(t, b, u), bytes.NewReader(body[min(mustReceived(t, b, u), int64(len(body))):]))
	if err != nil || !now.Complete || now.SHA256 != u.SHA256 {
		t.Errorf("in the end: %+v, %v", now, err)
	}
	got, err := b.store.SharesOf(t.Context(), owner) // a piece that came late may be there until it expires
	if diff := cmp.Diff([]artifact.Share{{ID: u.ID, Bytes: u.Bytes, Until: now.ExpiresAt}}, got); diff != "" || err != nil {
		t.Errorf("shares (-want +got):\n%s%v", diff, err)
	}
}

func mustReceived(t *testing.T, b *bench, u upload.Upload) int64 {
	t.Helper()
	return fixture.Must(b.nodes[0].Get(t.Context(), u.ID))(t).Received
}

// failing is a store that keeps no artifact, as one whose node dies before.
type failing struct {
	keeping

	fail func() error
}

func (f *failing) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	if r.Upload {
		return artifact.Meta{}, f.fail()
	}
	return f.keeping.Put(ctx, r)
}

// testCrash: an upload whose bytes are all here is completed by whoever asks for it next.
func testCrash(t *testing.T, b *bench) {
	for i, fail := range []func() error{
		func() error { return errors.New("dead") },
		func() error { panic("a decoder met what it doesn't know") },
	} {
		store := &failing{keeping: b.store, fail: fail}
		dying := fixture.Must(upload.New(upload.Config{Artifacts: store, Shares: store, Now: b.clock.now}))(t)
		body := file(1000 + i)
		u := b.begin(announce(body))
		if _, err := dying.Receive(t.Context(), u.ID, 0, bytes.NewReader(body)); fault.CodeOf(err) != fault.Internal {
			t.Errorf("without an artifact: %v", err)
		}
		if got, err := b.nodes[1].Get(t.Context(), u.ID); err != nil || !got.Complete {
			t.Errorf("asked again: %+v, %v", got, err)
		}
	}
}
