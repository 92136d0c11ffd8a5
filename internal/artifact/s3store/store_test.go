package s3store_test

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/artifact/artifacttest"
	"unitask/internal/artifact/s3store"
	"unitask/internal/artifact/s3store/s3test"
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

// place is a bucket's prefix that belongs to one test.
func place(t *testing.T, endpoint string) artifact.Bucket {
	return artifact.Bucket{Name: s3test.Bucket, Prefix: "of/" + strings.ReplaceAll(t.Name(), "/", "-"), Endpoint: endpoint, PathStyle: true}
}

// opened is a node's store with its folder and its log.
type opened struct {
	*s3store.Store

	dir string
	log *fixture.Log
}

// open opens a store at the endpoint as another node would.
func open(t *testing.T, endpoint string) opened {
	t.Helper()
	return openFor(t, endpoint, 20*time.Second) // the client's pauses between its tries are up to some seconds
}

// openFor is open with a patience.
func openFor(t *testing.T, endpoint string, stall time.Duration) opened {
	t.Helper()
	o := opened{dir: t.TempDir(), log: &fixture.Log{}}
	var err error
	o.Store, err = s3store.New(t.Context(), s3store.Config{
		Bucket: place(t, endpoint), Dir: o.dir, Now: func() time.Time { return artifacttest.Start },
		Logger: slog.New(slog.NewTextHandler(o.log, nil)), Stall: stall,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

// hold wants the place to hold exactly the objects, no parts, and the folder no file.
func (o opened) hold(t *testing.T, server *s3test.Server, ids ...string) {
	t.Helper()
	got := []string{}
	keys, parts := server.Objects()
	for _, key := range keys {
		if name, ours := strings.CutPrefix(key, place(t, "").Prefix+"/"); ours && name != "probe" && !strings.HasPrefix(name, "due/") {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(append([]string{}, slices.Sorted(slices.Values(ids))...), got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if len(parts) > 0 {
		t.Errorf("parts are left: %q", parts)
	}
	if left, err := os.ReadDir(o.dir); err != nil || len(left) > 0 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

func TestStore(t *testing.T) {
	server := s3test.Start(t)
	artifacttest.Run(t, func(t *testing.T) artifacttest.Harness {
		s := open(t, server.Endpoint())
		return artifacttest.Harness{Store: s, Hold: func(t *testing.T, ids ...string) { s.hold(t, server, ids...) }}
	})
}
