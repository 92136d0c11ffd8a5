package catalog

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
)

//go:embed data/*.yaml
var data embed.FS

var (
	namePattern     = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$`)
	modalityPattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// Default returns the built-in directory, the same one each time: it isn't to be changed.
func Default() (*Catalog, error) { return defaultOnce() }

var defaultOnce = sync.OnceValues(func() (*Catalog, error) { return Load() })

// Load is LoadFiles of overlays that are named by their number, from 1.
func Load(overlays ...[]byte) (*Catalog, error) {
	var files []File
	for i, overlay := range overlays {
		files = append(files, File{Name: fmt.Sprintf("catalog overlay %d", i+1), Text: overlay})
	}
	return LoadFiles(files...)
}

// File is one overlay in YAML and the name that its errors carry.
type File struct {
	Name string
	Text []byte
}

// LoadFiles returns the built-in directory with the capabilities and definitions of the overlays added or replaced,
// later ones over earlier ones. Errors name the file and the line.
func LoadFiles(overlays ...File) (*Catalog, error) {
	files, err := builtIn()
	if err != nil {
		return nil, err
	}
	return load(append(files, overlays...))
}

func builtIn() ([]File, error) {
	paths, err := fs.Glob(data, "data/*.yaml")
	if err != nil {
		return nil, err
	}
	var files []File
	for _, path := range paths {
		text, err := data.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: "catalog " + path, Text: text})
	}
	return files, nil
}

func load(files []File) (*Catalog, error) {
	definitions := map[string]schema{}
	declared := map[Name]declaration{}
	for _, src := range files {
		f, err := readFile(src)
		if err != nil {
			return nil, err
		}
		maps.Copy(definitions, f.Definitions)
		for i := range f.Capabilities {
			f.Capabilities[i].source = src.Name
			declared[f.Capabilities[i].Name.value] = f.Capabilities[i]
		}
	}
	byName := make(map[Name]*compiled, len(declared))
	names := slices.Sorted(maps.Keys(declared))
	slices.SortStableFunc(names, func(a, b Name) int { // a fault of a base is reported as its own, not as its tiers'
		return cmp.Compare(min(declared[a].Extends.line, 1), min(declared[b].Extends.line, 1))
	})
	for _, name := range names {
		d, err := declared[name], error(nil)
		if d.Extends.line > 0 {
			d, err = d.inherit(declared)
		}
		if err == nil {
			byName[name], err = d.compile(definitions)
		}
		if err != nil {
			return nil, err
		}
	}
	return newCatalog(byName), nil
}

// file is the YAML of one source.
type file struct {
	Definitions  map[string]schema `yaml:"definitions"`
	Capabilities []declaration     `yaml:"capabilities"`
}

// declaration is one capability as declared in YAML.
type declaration struct {
	Name         declaredName `yaml:"name"`
	Extends      declaredName `yaml:"extends"`
	Title        string       `yaml:"title"`
	Description  string       `yaml:"description"`
	Modality     string       `yaml:"modality"`
	Mode         Mode         `yaml:"mode"`
	Deadline     string       `yaml:"deadline"`
	PersonInputs []string     `yaml:"person_inputs"`
	Input        schema       `yaml:"input"`
	Parameters   schema       `yaml:"parameters"`
	Output       schema       `yaml:"output"`
	Example      schema       `yaml:"example"`
	Sample       schema       `yaml:"sample"`

	source   string
	borrowed bool // the example is that of the capability that this one extends
}

func readFile(src File) (file, error) {
	var f file
	if err := yaml.UnmarshalWithOptions(src.Text, &f, yaml.Strict()); err != nil {
		return file{}, src.wrap(err)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Definitions)) {
		if _, err := document(f.Definitions[key].json); err != nil {
			return file{}, fmt.Errorf("%s: line %d: definition %q: %w", src.Name, f.Definitions[key].line, key, err)
		}
	}
	first := map[Name]int{}
	for i, d := range f.Capabilities {
		if d.Name.line == 0 {
			return file{}, fmt.Errorf("%s: capability %d has no name", src.Name, i+1)
		}
		if line, twice := first[d.Name.value]; twice {
			return file{}, fmt.Errorf("%s: line %d: capability %q is on line %d too", src.Name, d.Name.line, d.Name.value, line)
		}
		first[d.Name.value] = d.Name.line
	}
	return f, nil
}

// wrap gives a YAML error its source and line, without the excerpt that the parser would print.
func (f File) wrap(err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		return fmt.Errorf("%s: line %d: %s", f.Name, e.GetToken().Position.Line, e.GetMessage())
	}
	return fmt.Errorf("%s: %w", f.Name, err)
}

// validate returns the deadline, or the first problem beside the schemas.
func (d declaration) validate() (time.Duration, error) {
	deadline, err := time.ParseDuration(d.Deadline)
	switch {
	case !namePattern.MatchString(string(d.Name.value)):
		return 0, errors.New("the name must be dotted lower-case words, such as text.chat")
	case d.Title == "" || d.Description == "":
		return 0, errors.New("title and description are required")
	case !modalityPattern.MatchString(d.Modality):
		return 0, errors.New("modality must be a lower-case word, such as text")
	case d.Mode != Sync && d.Mode != Async:
		return 0, errors.New("mode must be sync or async")
	case err != nil || deadline <= 0:
		return 0, errors.New("deadline must be a positive duration, such as 5m")
	}
	return deadline, nil
}
