package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/disk"
)

// FileName is the default name of the settings in the working folder.
const FileName = "unitask.yaml"

// Sources are the origins of settings, the strongest first: Flags, the environment, the file, the defaults.
type Sources struct {
	File       string              // "" without one
	Found      bool                // File was found in the working folder: it must be this user's or root's
	Getenv     func(string) string // nil: no environment
	Flags      map[string]string   // by the setting's name, such as "listen"
	Moderators []string            // the kinds that can be asked about content
	AnyOutput  []string            // the kinds whose results may fill every output schema
	Kinds      map[string][]string // the kinds of suppliers there are, with the capabilities each can serve; nil: its models' maps say
}

// Load reads and checks the settings, and the directory with the file's additions and deadlines. Its error is an
// Errors, or that of reading a file.
func Load(s Sources) (Config, *catalog.Catalog, error) {
	var text []byte
	if s.File != "" {
		var err error
		read := readOwn
		if s.Found {
			read = readFound
		}
		if text, err = read(s.File); err != nil {
			return Config{}, nil, err
		}
	}
	return parse(s, text, readOwn)
}

// readOwn reads a file that other users can't write to, who could name their own routes in it.
func readOwn(name string) ([]byte, error) {
	if err := disk.Own(name); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// readFound reads a file that was found.
func readFound(name string) ([]byte, error) {
	text, err := disk.ReadMine(name)
	if e, ok := errors.AsType[*disk.ForeignError](err); ok {
		return nil, fmt.Errorf("%w, and nobody named it: --config %s reads it all the same", e, name)
	}
	return text, err
}

// parse is Load with the file's text at hand.
func parse(s Sources, text []byte, readFile func(string) ([]byte, error)) (Config, *catalog.Catalog, error) {
	var c Config
	r := &report{places: map[string]Place{}}
	setDefaults(reflect.ValueOf(&c).Elem())
	if s.File != "" {
		r.decodeFile(s.File, text, &c)
	}
	r.override(s, &c)
	if err := r.err(); err != nil {
		return Config{}, nil, err // unreadable settings can't be judged
	}
	for i, one := range c.Suppliers {
		r.read(elementOf("suppliers", i)+".models", one.Models, s.File, readFile)
	}
	directory := r.directory(&c, s.File, readFile)
	if directory != nil {
		r.check(&c, s, directory)
	}
	if err := r.err(); err != nil {
		return Config{}, nil, err
	}
	deadlines := make(map[catalog.Name]time.Duration, len(c.Deadlines))
	for name, d := range c.Deadlines {
		deadlines[name] = time.Duration(d)
	}
	directory, err := directory.WithDeadlines(deadlines)
	return c, directory, err
}

// override applies the environment and then the flags.
func (r *report) override(s Sources, c *Config) {
	v := reflect.ValueOf(c).Elem()
	flags := maps.Clone(s.Flags)
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, variable := tag.Get("yaml"), tag.Get("env")
		if variable != "" && s.Getenv != nil {
			if text := s.Getenv(variable); text != "" {
				r.set(name, variable, text, v.Field(i))
			}
		}
		if text, ok := flags[name]; ok {
			r.set(name, "--"+flagName(name), text, v.Field(i))
			delete(flags, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		panic("config: no setting for the flag " + name)
	}
}

func (r *report) set(name, source, text string, v reflect.Value) {
	r.places[name] = Place{Source: source}
	if err := setText(v, text); err != nil {
		r.add(name, err.Error(), "")
	}
}

// read returns the files that stand relative to the configuration, and makes their names good from anywhere.
func (r *report) read(path string, names []string, file string, readFile func(string) ([]byte, error)) []catalog.File {
	var files []catalog.File
	for i, name := range names {
		written := name
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), name)
			names[i] = name
		}
		text, err := readFile(name)
		if err != nil {
			r.add(elementOf(path, i), "can't be read: "+cause(err), "")
			continue
		}
		files = append(files, catalog.File{Name: written, Text: text})
	}
	return files
}

// directory loads the catalog with its overlays.
func (r *report) directory(c *Config, file string, readFile func(string) ([]byte, error)) *catalog.Catalog {
	directory, err := catalog.LoadFiles(r.read("catalog", c.Catalog, file, readFile)...)
	if err != nil {
		r.add("catalog", "is not valid: "+err.Error(), "")
		return nil
	}
	return directory
}

// cause is the reason of a file error without the operation and the path.
func cause(err error) string {
	if w, ok := errors.AsType[*disk.WritableError](err); ok {
		return strings.TrimPrefix(w.Error(), w.Path+" ")
	}
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
