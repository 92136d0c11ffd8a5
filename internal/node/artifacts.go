package node

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/artifact/s3store"
	"unitask/internal/backup"
	"unitask/internal/config"
	"unitask/internal/store"
)

// spoolName is the folder, in the data folder, of bodies on their way to an object store.
const spoolName = "spool"

// openArtifacts opens the store of artifacts, and the folder if that is it. The data folder remembers which it is.
func (n *Node) openArtifacts(ctx context.Context, set config.Config) (artifact.Store, *artifact.Folder, error) {
	before, err := backup.Location(n.DataDir)
	if err != nil {
		return nil, nil, err
	}
	now := store.ClockOf(n.db, wallClock).Stamp
	dir := filepath.Join(n.DataDir, backup.ArtifactsName)
	bucket, elsewhere := set.Bucket()
	if !elsewhere {
		if before != "" {
			n.log.Warn("artifacts are kept in the data folder now; the former ones aren't found any more", slog.String("former", before))
		}
		folder, err := artifact.NewFolder(artifact.FolderConfig{Dir: dir, Now: now})
		if err != nil {
			return nil, nil, err
		}
		return folder, folder, backup.SetLocation(n.DataDir, "")
	}
	if before != bucket.String() && (before != "" || holdsFiles(dir)) {
		n.log.Warn("artifacts are kept in another place now; the former ones aren't found any more", slog.String("place", bucket.String()))
	}
	s3, err := s3store.New(ctx, s3store.Config{Bucket: bucket, Dir: filepath.Join(n.DataDir, spoolName), Now: now, Logger: n.log})
	if err != nil {
		return nil, nil, err
	}
	if err := s3.Check(ctx); err != nil {
		return nil, nil, err
	}
	return s3, nil, backup.SetLocation(n.DataDir, bucket.String())
}

// CheckBucket proves that the object store takes the service's objects under its condition, with a small one that
// stays.
func CheckBucket(ctx context.Context, bucket artifact.Bucket) error {
	dir, err := os.MkdirTemp("", "unitask-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s3, err := s3store.New(ctx, s3store.Config{Bucket: bucket, Dir: dir, Now: time.Now})
	if err != nil {
		return err
	}
	return s3.Prove(ctx)
}

// holdsFiles reports whether an artifact folder has a shard, which it has from its first file on.
func holdsFiles(dir string) bool {
	shards, err := filepath.Glob(filepath.Join(dir, "*", "??"))
	return err == nil && len(shards) > 0
}
