package chatmap

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"unitask/internal/catalog"
	"unitask/internal/supplier/jq"
	"unitask/internal/supplier/upstream"
)

// model is one map as it is written.
type model struct {
	Model      string       `json:"model"` // of a route, or "*" for each that has no map of its own
	Capability catalog.Name `json:"capability"`
	As         catalog.Name `json:"as"`   // text.chat
	Name       string       `json:"name"` // at the supplier, if a route has another name for it
	Honours    []string     `json:"honours"`
	Input      string       `json:"input"`      // program: the request → the chat's input
	Parameters string       `json:"parameters"` // program: the request → the chat's parameters; "" for none
}

// anyModel is the model of a map that serves each model of the supplier.
const anyModel = "*"

type key struct {
	capability catalog.Name
	model      string
}

// plan is a compiled map.
type plan struct {
	name              string // of the model at the supplier; "" for the route's
	honours           upstream.Honours
	input, parameters *jq.Program // parameters may be nil
	bytes             int         // of their texts
}

// load reads the maps of files; a later one replaces an earlier one of the same model and capability. Its errors name
// the file, the model and the member.
func load(files []string) (map[key]*plan, error) {
	plans := map[key]*plan{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err == nil {
			err = add(plans, text)
		}
		if err != nil {
			return nil, fmt.Errorf("models %s: %w", name, err)
		}
	}
	return plans, nil
}

func add(plans map[key]*plan, text []byte) error {
	plain, err := yaml.YAMLToJSON(text)
	if err != nil {
		return errors.New("is no YAML")
	}
	var doc struct {
		Models []*model `json:"models"`
	}
	if err := jsonv2.Unmarshal(plain, &doc, jsonv2.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("is no list of maps that make chats: %w", err)
	}
	for _, m := range doc.Models {
		if m == nil || m.Model == "" || m.Capability == "" {
			return errors.New("model and capability are required")
		}
		p, err := m.compile()
		if err != nil {
			return fmt.Errorf("%s of %s: %w", m.Model, m.Capability, err)
		}
		plans[key{m.Capability, m.Model}] = p
	}
	return nil
}

func (m *model) compile() (*plan, error) {
	p := &plan{name: m.Name, bytes: len(m.Input) + len(m.Parameters)}
	if m.As != catalog.TextChat {
		return nil, fmt.Errorf("as: must be %s, whose request the map makes", catalog.TextChat)
	}
	if strings.TrimSpace(m.Input) == "" {
		return nil, errors.New("input: a program that makes the chat's input is required, such as {prompt: .input.text}")
	}
	var err error
	if p.input, err = jq.Compile(m.Input); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if m.Parameters != "" {
		if p.parameters, err = jq.Compile(m.Parameters); err != nil {
			return nil, fmt.Errorf("parameters: %w", err)
		}
	}
	p.honours, err = m.honoured(p)
	return p, err
}

// honoured reads the list of members, each of which a program must name.
func (m *model) honoured(p *plan) (upstream.Honours, error) {
	var h upstream.Honoured
	groups := map[string]*[]string{catalog.GroupInput: &h.Input, catalog.GroupParameters: &h.Parameters}
	for _, member := range m.Honours {
		group, name, _ := strings.Cut(member, ".")
		list := groups[group]
		if list == nil || name == "" || strings.Contains(name, ".") {
			return nil, fmt.Errorf("honours %s: must be input.NAME or parameters.NAME, of %s", member, strings.Join(slices.Sorted(maps.Keys(groups)), " and "))
		}
		used := p.input.Uses(name) || p.parameters != nil && p.parameters.Uses(name)
		if !used && member != parameterTokens {
			return nil, fmt.Errorf("honours %s: no program uses it", member)
		}
		*list = append(*list, name)
	}
	return upstream.Honours{m.Capability: h}, nil
}
