package requestlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/task"
)

const (
	segmentPrefix = "requests-"
	segmentSuffix = ".log"
	// mostFound bounds the records returned for one task.
	mostFound = 1000
	// early is how much sooner than an id's time its segment may begin to be looked at: clocks are set.
	early = time.Hour
)

// Folder is a log's folder, to read, whether a Log writes to it or not.
type Folder string

// Find returns the requests that an id stands for, oldest first: the one of a request's id, or those of a task's id,
// a thousand at most. An empty result is no error.
func (f Folder) Find(ctx context.Context, id string) ([]Entry, error) {
	one := task.ValidID(task.PrefixRequest, id)
	if !one && !task.ValidID(task.PrefixTask, id) {
		return nil, nil
	}
	all, err := f.segments()
	if err != nil {
		return nil, err
	}
	from := task.IDTime(id).Add(-early)
	var found []Entry
	for i, since := range all {
		if i+1 < len(all) && all[i+1].Before(from) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if found, err = f.search(since, id, found); err != nil {
			return nil, err
		}
		if (one && len(found) > 0) || len(found) >= mostFound {
			break
		}
	}
	slices.SortStableFunc(found, func(a, b Entry) int { return a.At.Compare(b.At) })
	return found[:min(len(found), mostFound)], nil
}

// Find returns the requests that an id stands for, as Folder.Find does, with those that were added before.
func (l *Log) Find(ctx context.Context, id string) ([]Entry, error) {
	l.Flush()
	return l.folder.Find(ctx, id)
}

// search appends a segment's entries of an id. Foreign lines are ignored.
func (f Folder) search(since time.Time, id string, found []Entry) ([]Entry, error) {
	raw, err := os.ReadFile(f.path(since))
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil // removed meanwhile
	}
	if err != nil {
		return found, err
	}
	for {
		at := bytes.Index(raw, []byte(id))
		if at < 0 {
			return found, nil
		}
		begin := bytes.LastIndexByte(raw[:at], '\n') + 1
		end := bytes.IndexByte(raw[at:], '\n')
		if end < 0 {
			return found, nil // cut short
		}
		e, err := parseEntry(raw[begin : at+end])
		if err == nil && (e.ID == id || e.TaskID == id) {
			found = append(found, e)
		}
		raw = raw[at+end:]
	}
}

// segments returns when each segment begins, the oldest first.
func (f Folder) segments() ([]time.Time, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []time.Time
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), segmentPrefix)
		stamp, ends := strings.CutSuffix(name, segmentSuffix)
		if ms, err := strconv.ParseInt(stamp, 10, 64); ok && ends && err == nil && f.name(time.UnixMilli(ms)) == e.Name() {
			all = append(all, time.UnixMilli(ms).UTC())
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all, err
}

func (f Folder) name(since time.Time) string {
	return fmt.Sprintf("%s%013d%s", segmentPrefix, since.UnixMilli(), segmentSuffix)
}

func (f Folder) path(since time.Time) string { return filepath.Join(string(f), f.name(since)) }
