package power_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/losstest"
	"unitask/internal/task"
	"unitask/test/harness"
)

// The roles of a test binary that is started anew, in a folder.
const (
	roleVariable   = "UNITASK_POWER_ROLE"
	folderVariable = "UNITASK_POWER_FOLDER"

	roleCareful = "writer"
	roleNoSync  = "writer without fsync" // the control
	roleChecker = "checker"
)

const writers = 8

// play plays a role to its end.
func play(role, dir string) error {
	files, err := artifact.NewFolder(artifact.FolderConfig{Dir: filepath.Join(dir, "artifacts")})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "unitask.db")
	if role == roleChecker {
		if err := harness.CheckData(context.Background(), dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	db, err := boltstore.Open(boltstore.Config{Path: path, NoSync: role == roleNoSync})
	if err != nil {
		return err
	}
	if role == roleChecker {
		return check(db, files, os.Stdin)
	}
	failed := make(chan error, 2)
	go func() {
		failed <- losstest.Writers{Store: db, Out: os.Stdout, Count: writers}.Run(context.Background())
	}()
	go func() { failed <- putArtifacts(files, os.Stdout) }()
	return <-failed
}

// artifactLine acknowledges an artifact.
const artifactLine = "artifact %s %s\n"

// putArtifacts keeps files of every size up to 64 KiB and acknowledges each.
func putArtifacts(files artifact.Store, out io.Writer) error {
	for n := 0; ; n++ {
		body := make([]byte, 16+n*4099%(64<<10))
		_, _ = rand.Read(body) // never fails
		copy(body, "\x89PNG\r\n\x1a\n")
		m, err := files.Put(context.Background(), artifact.PutRequest{
			ID: task.NewID(task.PrefixArtifact, time.Now()), Owner: "acct_power", Body: bytes.NewReader(body), Limit: 1 << 20,
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, artifactLine, m.ID, m.SHA256); err != nil {
			return err
		}
	}
}

// check holds the store and the files to the acknowledgements of everyone who wrote to them.
func check(db *boltstore.DB, files artifact.Store, acknowledged io.Reader) error {
	var record losstest.Record
	var broken []error
	for lines := bufio.NewScanner(acknowledged); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "artifact" {
			broken = append(broken, checkArtifact(files, words[1], words[2]))
		} else if !record.Note(lines.Text()) {
			broken = append(broken, fmt.Errorf("not an acknowledgement: %q", lines.Text()))
		}
	}
	return errors.Join(append(broken, record.Check(context.Background(), db))...)
}

func checkArtifact(files artifact.Store, id, want string) error {
	m, body, err := files.Open(context.Background(), id)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	defer func() { _ = body.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want || m.SHA256 != want {
		return fmt.Errorf("%s: the bytes' SHA-256 is %s, the record's %s, want %s", id, got, m.SHA256, want)
	}
	return nil
}
