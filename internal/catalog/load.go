package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/goccy/go-yaml"
)

//go:embed data/*.yaml
var data embed.FS

var (
	namePattern     = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$`)
	modalityPattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// Default returns the built-in directory.
func Default() (*Catalog, error) { return Load() }

// Load returns the built-in directory with the capabilities and definitions of the overlays added or
// replaced, later ones over earlier ones. Errors name the overlay, counted from 1, and the line.
func Load(overlays ...[]byte) (*Catalog, error) {
	sources, err := builtIn()
	if err != nil {
		return nil, err
	}
	for i, overlay := range overlays {
		sources = append(sources, source{name: fmt.Sprintf("catalog overlay %d", i+1), text: overlay})
	}
	return load(sources)
}

// source is one YAML file and the name its errors carry.
type source struct {
	name string
	text []byte
}

func builtIn() ([]source, error) {
	paths, err := fs.Glob(data, "data/*.yaml")
	if err != nil {
		return nil, err
	}
	var sources []source
	for _, path := range paths {
		text, err := data.ReadFile(path)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source{name: "catalog " + path, text: text})
	}
	return sources, nil
}

func load(sources []source) (*Catalog, error) {
	definitions := map[string]schema{}
	declared := map[Name]declaration{}
	for _, src := range sources {
		f, err := readFile(src)
		if err != nil {
			return nil, err
		}
		maps.Copy(definitions, f.Definitions)
		for i := range f.Capabilities {
			f.Capabilities[i].source = src.name
			declared[f.Capabilities[i].Name.value] = f.Capabilities[i]
		}
	}
	byName := make(map[Name]*compiled, len(declared))
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		e, err := declared[name].compile(definitions)
		if err != nil {
			return nil, err
		}
		byName[name] = e
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

	source string
}

func readFile(src source) (file, error) {
	var f file
	if err := yaml.UnmarshalWithOptions(src.text, &f, yaml.Strict()); err != nil {
		return file{}, src.wrap(err)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Definitions)) {
		if _, err := document(f.Definitions[key].json); err != nil {
			return file{}, fmt.Errorf("%s: line %d: definition %q: %w", src.name, f.Definitions[key].line, key, err)
		}
	}
	first := map[Name]int{}
	for i, d := range f.Capabilities {
		if d.Name.line == 0 {
			return file{}, fmt.Errorf("%s: capability %d has no name", src.name, i+1)
		}
		if line, twice := first[d.Name.value]; twice {
			return file{}, fmt.Errorf("%s: line %d: capability %q is on line %d too", src.name, d.Name.line, d.Name.value, line)
		}
		first[d.Name.value] = d.Name.line
	}
	return f, nil
}

// wrap gives a YAML error its source and line, without the excerpt that the parser would print.
func (s source) wrap(err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		return fmt.Errorf("%s: line %d: %s", s.name, e.GetToken().Position.Line, e.GetMessage())
	}
	return fmt.Errorf("%s: %w", s.name, err)
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
