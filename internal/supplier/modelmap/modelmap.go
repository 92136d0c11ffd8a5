// Package modelmap turns neutral requests into the inputs of models that each have a format of their
// own, and their outputs back, by maps that are configuration and not code.
//
// A map names, for one model and capability, the place of each member of the neutral request in the model's input and
// its conversion, and the place of the files or the text in the output. A member without a rule, or with a value that
// its rule can't convert, is one that the model can't honour: Refuses says so, and Input fails. Two members need no
// rule: the seed, which has no effect if it isn't supported, and the authorization, which is the gateway's matter.
//
// Invariants: a request is mapped whole or not at all; no error quotes a request or an output.
package modelmap

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"unitask/internal/catalog"
)

// Maps are the maps of one supplier. They are immutable and safe for concurrent use.
type Maps struct {
	models   map[key]*model
	refusals []*regexp.Regexp
}

type key struct {
	capability catalog.Name
	model      string
}

// model is one map as it is written.
type model struct {
	Model      string       `json:"model"`
	Capability catalog.Name `json:"capability"`
	Name       string       `json:"name"` // at the supplier, if a route has another name for it
	Rules
	Output output `json:"output"`
}

type document struct {
	Models []*model `json:"models"`
	// Refusals are patterns of the errors by which the models' own reviews refuse.
	Refusals []string `json:"refusals"`
}

// Load reads the built-in maps and then files, whose maps add to or replace those before them. Its
// errors are about the maps.
func Load(builtin []byte, files ...string) (*Maps, error) {
	m := &Maps{models: map[key]*model{}}
	if err := m.add(builtin); err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err == nil {
			err = m.add(text)
		}
		if err != nil {
			return nil, fmt.Errorf("models %s: %w", name, err)
		}
	}
	return m, nil
}

func (m *Maps) add(text []byte) error {
	plain, err := yaml.YAMLToJSON(text)
	if err != nil {
		return errors.New("is no YAML")
	}
	var doc document
	if err := jsonv2.Unmarshal(plain, &doc, jsonv2.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("is no list of maps: %w", err)
	}
	for _, p := range doc.Refusals {
		pattern, err := regexp.Compile(p)
		if err != nil {
			return fmt.Errorf("refusals: %w", err)
		}
		m.refusals = append(m.refusals, pattern)
	}
	for _, one := range doc.Models {
		if err := one.check(); err != nil {
			return fmt.Errorf("%s of %s: %w", one.Model, one.Capability, err)
		}
		m.models[key{one.Capability, one.Model}] = one
	}
	return nil
}

func (m *model) check() error {
	if m == nil || m.Model == "" || m.Capability == "" {
		return errors.New("model and capability are required")
	}
	if m.Name == "" {
		m.Name = m.Model
	}
	if err := m.Check(); err != nil {
		return err
	}
	return m.Output.check(m.Capability)
}

// Knows reports whether there is a map for the model.
func (m *Maps) Knows(c catalog.Name, model string) bool { return m.models[key{c, model}] != nil }

// Reviewed reports whether the text of a model's error says that its review refused the content.
func (m *Maps) Reviewed(text string) bool {
	return slices.ContainsFunc(m.refusals, func(p *regexp.Regexp) bool { return p.MatchString(text) })
}
