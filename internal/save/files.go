package save

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
	"unitask/internal/disk"
	"unitask/internal/fault"
)

// Files is the dashboard's use of results on this machine. It is safe for concurrent use.
type Files struct{ Client *client.Client }

// Fetch downloads a file of a result.
func (f Files) Fetch(ctx context.Context, a api.Artifact, w io.Writer) error {
	return f.Client.Download(ctx, a, w)
}

// Save writes a result to a folder, which is made, or to a file in one that is there.
func (f Files) Save(ctx context.Context, t api.Task, to string, replace bool) ([]string, error) {
	to, err := atHome(to)
	if err != nil {
		return nil, err
	}
	if IsFolder(to) {
		if err := os.MkdirAll(to, 0o755); err != nil {
			return nil, fmt.Errorf("%s: %w", to, disk.Cause(err))
		}
	}
	var files []string
	err = f.withAddresses(ctx, t, func(t api.Task) error {
		parts, err := Parts(t.Output)
		if err != nil {
			return err
		}
		into, err := destinationOf(to, t.ID, parts)
		if err == nil {
			files, err = into.save(ctx, f.Client, parts, replace)
		}
		return err
	})
	return files, err
}

// Complete completes the name of a file or a folder, in the home folder too.
func (f Files) Complete(prefix string) []string {
	if prefix == "~" {
		return []string{"~/"}
	}
	head, base := filepath.Split(prefix)
	dir, err := atHome(head)
	if err != nil {
		return nil
	}
	var paths []string
	for _, name := range NamesIn(dir, base) {
		paths = append(paths, head+name)
	}
	return paths
}

// Open saves a result in the user's cache folder and opens it.
func (f Files) Open(ctx context.Context, t api.Task) ([]string, bool, error) {
	var files []string
	err := f.withAddresses(ctx, t, func(t api.Task) error {
		parts, err := Parts(t.Output)
		if err != nil {
			return err
		}
		kept, err := Keep(ctx, f.Client, t.ID, parts, ResultsFolder())
		files = files[:0]
		for _, one := range kept {
			files = append(files, one.Path)
		}
		return err
	})
	program := ProgramHere()
	if err != nil || program == nil {
		return files, false, err
	}
	for _, path := range files {
		if err := program.Open(ctx, path); err != nil {
			return files, false, fmt.Errorf("%s: %w", program.Name, err)
		}
	}
	return files, true, nil
}

// withAddresses does something with a result whose addresses may have expired: once more with new ones if the service
// refuses.
func (f Files) withAddresses(ctx context.Context, t api.Task, do func(api.Task) error) error {
	err := do(t)
	if _, refused := errors.AsType[*fault.Error](err); !refused {
		return err
	}
	now, getErr := f.Client.Get(ctx, t.ID, client.GetOptions{})
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
