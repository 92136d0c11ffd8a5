package chat

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"unitask/internal/disk"
	"unitask/internal/task"
)

const (
	extension = ".jsonl"
	maxFile   = 256 << 20 // bytes
)

// ErrBusy reports a conversation that another process works on.
var ErrBusy = disk.ErrLocked

// Store is a folder of conversations. It is safe for concurrent use, also by several processes.
type Store struct {
	dir    string
	append func(*os.File, []byte) error // durably
}

// Open returns the conversations in a state folder. No file is made before the first turn.
func Open(stateDir string) *Store {
	return &Store{dir: filepath.Join(stateDir, "chats"), append: appendSynced}
}

func appendSynced(f *os.File, raw []byte) error {
	if _, err := f.Write(raw); err != nil {
		return err
	}
	return f.Sync()
}

// Path returns a conversation's file.
func (s *Store) Path(id string) string { return filepath.Join(s.dir, id+extension) }

// New returns a conversation that gets its file with its first turn.
func (s *Store) New(settings Settings) *Conversation {
	now := time.Now()
	return &Conversation{ID: task.NewID(Prefix, now), Created: now.UTC().Truncate(time.Second), Settings: settings, store: s}
}

// Take locks a conversation and reads it. It returns ErrBusy, fs.ErrNotExist or *DamagedError.
func (s *Store) Take(id string) (*Conversation, error) {
	f, err := disk.OpenLocked(s.Path(id))
	if err != nil {
		return nil, err
	}
	c, err := s.read(id, f)
	if err == nil {
		c.file = f
		err = c.endLine()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

// Peek reads a conversation that another process may work on.
func (s *Store) Peek(id string) (*Conversation, error) {
	f, err := os.Open(s.Path(id))
	if err != nil {
		return nil, err
	}
	c, err := s.read(id, f)
	return c, errors.Join(err, f.Close())
}

func (s *Store) read(id string, f *os.File) (*Conversation, error) {
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxFile {
		return nil, &DamagedError{errors.New("it is too large")}
	}
	c := &Conversation{ID: id, store: s}
	if info, err := f.Stat(); err == nil {
		c.Changed = info.ModTime()
	}
	return c, c.decode(raw)
}

// Remove deletes a conversation, a damaged one too. It returns ErrBusy or fs.ErrNotExist.
func (s *Store) Remove(id string) error {
	f, err := disk.OpenLocked(s.Path(id))
	if err != nil {
		return err
	}
	return disk.RemoveLocked(f)
}

// List returns the ids of all conversations, the one that changed last first.
func (s *Store) List() ([]string, error) {
	found, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	changed := map[string]time.Time{}
	var ids []string
	for _, one := range found {
		id, ok := strings.CutSuffix(one.Name(), extension)
		info, err := one.Info()
		if !ok || !task.ValidID(Prefix, id) || err != nil {
			continue // another file, or one that has gone meanwhile
		}
		ids, changed[id] = append(ids, id), info.ModTime()
	}
	slices.SortFunc(ids, func(a, b string) int {
		if c := changed[b].Compare(changed[a]); c != 0 {
			return c
		}
		return strings.Compare(b, a)
	})
	return ids, nil
}

// NotFoundError is a name that fits no conversation, or several.
type NotFoundError struct {
	Name string
	Many int // how many it fits
}

// Error says which it is.
func (e *NotFoundError) Error() string {
	switch {
	case e.Many > 0:
		return fmt.Sprintf("%d conversations begin with %s", e.Many, e.Name)
	case e.Name == "":
		return "there is no conversation on this machine"
	default:
		return "this machine has no conversation " + e.Name
	}
}

// Find returns the id of the conversation that begins with name; "" is the one that changed last, of those that can be
// read if there are any. It returns *NotFoundError if there isn't exactly one.
func (s *Store) Find(name string) (string, error) {
	all, err := s.List()
	if err != nil {
		return "", err
	}
	if name == "" && len(all) > 0 {
		return s.newest(all), nil
	}
	var fit []string
	for _, id := range all {
		if name != "" && strings.HasPrefix(id, name) {
			fit = append(fit, id)
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	return "", &NotFoundError{Name: name, Many: len(fit)}
}

func (s *Store) newest(all []string) string {
	for _, id := range all {
		if _, err := s.Peek(id); err == nil {
			return id
		}
	}
	return all[0] // whoever reads it is told the fault
}
