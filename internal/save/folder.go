package save

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"unitask/internal/client"

	"github.com/adrg/xdg"
)

// File is a result's file on this machine.
type File struct {
	Path        string `json:"path"`
	ContentType string `json:"content_type"`
}

// ResultsFolder holds the files that were only to be looked at.
func ResultsFolder() string { return filepath.Join(xdg.CacheHome, "unitask", "results") }

// Keep saves a task's parts in a folder; a missing one is made for this user alone.
func Keep(ctx context.Context, c *client.Client, id string, parts []Part, folder string) ([]File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	into, err := destinationOf(folder, id, parts)
	if err != nil {
		return nil, err
	}
	paths, err := into.save(ctx, c, parts, true)
	if err != nil {
		return nil, err
	}
	files := make([]File, len(paths))
	for i, path := range paths {
		files[i] = File{Path: path, ContentType: parts[i].ContentType}
	}
	return files, nil
}

// NamesIn returns the names with a prefix in a folder, "" for this one; folders end with a slash. A hidden name is
// completed only after its dot.
func NamesIn(dir, base string) []string {
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".")
		if hidden || !strings.HasPrefix(name, base) || strings.ContainsFunc(name, unicode.IsControl) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			name += "/"
		}
		found = append(found, name)
	}
	return found
}
