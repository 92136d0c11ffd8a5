package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// filesCheck checks the files of a data folder.
type filesCheck struct {
	ctx   context.Context //nolint:containedctx // of the check that it belongs to
	files *artifact.Folder
	whole bool            // files are read to their end
	told  map[string]bool // with a finding
}

// result returns the fault of a task's result.
func (c *filesCheck) result(a task.Artifact) error {
	m, err := c.files.Stat(c.ctx, a.ID)
	if err == nil {
		err = wantFile(a, m)
	}
	return c.judge(a.ID, m, err)
}

// input returns the fault of a task's large input.
func (c *filesCheck) input(ref string) error {
	m, err := c.files.Stat(c.ctx, ref)
	return c.judge(ref, m, err)
}

func (c *filesCheck) judge(id string, m artifact.Meta, err error) error {
	if err == nil && c.whole {
		err = compareBytes(c.ctx, c.files, m)
	}
	if err != nil {
		c.told[id] = true
	}
	return err
}

// rest reports damaged files that no task names, above all those of uploads. Sound ones that lead nowhere are no
// findings: a kill leaves them, as it does shares of a quota, and they go when they expire.
func (c *filesCheck) rest(report *boltstore.Report) error {
	now := time.Now()
	return c.files.Each(c.ctx, func(m artifact.Meta, err error) error {
		if m.Expired(now) || c.told[m.ID] {
			return nil
		}
		unnamed := m.Upload || strings.HasPrefix(m.ID, task.PrefixInput)
		if m.Upload {
			report.Files++
		}
		if err == nil && c.whole && unnamed {
			err = compareBytes(c.ctx, c.files, m)
		}
		switch {
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case fault.CodeOf(err) == fault.NotFound:
			err = errors.New("its bytes are missing")
		}
		if err != nil {
			report.Add(boltstore.Finding{Subject: m.ID, Problem: "file: " + err.Error()})
		}
		return nil
	})
}

// compareBytes reads a kept file to its end.
func compareBytes(ctx context.Context, files *artifact.Folder, m artifact.Meta) (err error) {
	_, body, err := files.Open(ctx, m.ID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		return errors.New("its SHA-256 is another")
	}
	return nil
}
