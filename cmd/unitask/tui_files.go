package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
)

// tuiFiles is the dashboard's use of results on this machine.
type tuiFiles struct{ c *client.Client }

// Fetch downloads a file of a result.
func (f tuiFiles) Fetch(ctx context.Context, a api.Artifact, w io.Writer) error {
	return f.c.Download(ctx, a, w)
}

// Save writes a result to a folder, which is made, or to a file in one that is there.
func (f tuiFiles) Save(ctx context.Context, t api.Task, to string, replace bool) ([]string, error) {
	to, err := atHome(to)
	if err != nil {
		return nil, err
	}
	if isFolder(to) {
		if err := os.MkdirAll(to, 0o755); err != nil {
			return nil, fmt.Errorf("%s: %w", to, why(err))
		}
	}
	var files []string
	err = f.withAddresses(ctx, t, func(t api.Task) error {
		parts, err := partsOf(t.Output)
		if err != nil {
			return err
		}
		into, err := destinationOf(to, t.ID, parts)
		if err == nil {
			files, err = into.save(ctx, f.c, parts, replace)
		}
		return err
	})
	return files, err
}

// Complete completes the name of a file or a folder, in the home folder too.
func (f tuiFiles) Complete(begun string) []string {
	if begun == "~" {
		return []string{"~/"}
	}
	head, base := filepath.Split(begun)
	dir, err := atHome(head)
	if err != nil {
		return nil
	}
	var paths []string
	for _, name := range namesIn(dir, base) {
		paths = append(paths, head+name)
	}
	return paths
}

// Open saves a result in the user's cache folder and opens it.
func (f tuiFiles) Open(ctx context.Context, t api.Task) ([]string, bool, error) {
	var files []string
	err := f.withAddresses(ctx, t, func(t api.Task) error {
		parts, err := partsOf(t.Output)
		if err != nil {
			return err
		}
		kept, err := keep(ctx, f.c, t.ID, parts, resultsFolder())
		files = files[:0]
		for _, one := range kept {
			files = append(files, one.Path)
		}
		return err
	})
	program := openerHere()
	if err != nil || program == nil {
		return files, false, err
	}
	for _, path := range files {
		if err := program.open(ctx, path); err != nil {
			return files, false, fmt.Errorf("%s: %w", program.name, err)
		}
	}
	return files, true, nil
}

// withAddresses does something with a result whose addresses may have expired: once more with new ones if the service
// refuses.
func (f tuiFiles) withAddresses(ctx context.Context, t api.Task, do func(api.Task) error) error {
	err := do(t)
	if _, refused := errors.AsType[*fault.Error](err); !refused {
		return err
	}
	now, getErr := f.c.Get(ctx, t.ID, client.GetOptions{})
	if getErr != nil {
		return err
	}
	return do(now.Task)
}

// atHome reads "~" and "~/" as a shell does.
func atHome(path string) (string, error) {
	if path == "~" {
		path = "~/"
	}
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path, nil
	}
	home, err := os.UserHomeDir()
	return home + string(filepath.Separator) + rest, err
}
