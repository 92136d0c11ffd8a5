package httpmap

import (
	"errors"
	"fmt"
	"os"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier/modelmap"
)

// document is a file of maps.
type document struct {
	Models []*model `json:"models"`
}

// model is one map as it is written. Texts that are programs are jq.
type model struct {
	Model      string       `json:"model"`
	Capability catalog.Name `json:"capability"`
	Name       string       `json:"name"` // at the supplier, if a route has another name for it
	Submit     submission   `json:"submit"`
	// Answer is the media type of an answer of bytes, such as audio/*; "" for JSON.
	Answer string            `json:"answer"`
	Output string            `json:"output"` // program: the answer → the capability's output
	Usage  map[string]string `json:"usage"`  // programs: the answer → a number, by unit
	Job    string            `json:"job"`    // program: the answer to a submission → the job's id; null: there is none
	State  string            `json:"state"`  // program: an answer about a job → its state
	Poll   *address          `json:"poll"`
	Result *address          `json:"result"` // of a job that is done; nil: the answer about it has the result
	Cancel *address          `json:"cancel"`
	Errors []errorRule       `json:"errors"`
}

type submission struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	// HonorsKey says that a second submission under the same submit key is the first one again.
	HonorsKey bool     `json:"honors_key"`
	Honours   []string `json:"honours"` // the members that Body or Form uses: input.NAME, parameters.NAME
	Body      string   `json:"body"`    // program: the request → the body
	Form      string   `json:"form"`    // program: the request → the fields of a form
	modelmap.Rules
}

type address struct {
	Method string `json:"method"`
	Path   string `json:"path"`
}

// errorRule gives errors that match a code. At least one condition is there.
type errorRule struct {
	Status   int        `json:"status"`
	Match    string     `json:"match"` // a regular expression of the answer's body
	Code     fault.Code `json:"code"`
	Operator bool       `json:"operator"` // the operator's to mend: the route is closed
}

type planKey struct {
	capability catalog.Name
	model      string
}

// load reads the maps of files; a later one replaces an earlier one of the same model and capability. Its errors name
// the file, the model and the member.
func load(files []string, keyHeader string) (map[planKey]*plan, error) {
	plans := map[planKey]*plan{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err == nil {
			err = add(plans, text, keyHeader)
		}
		if err != nil {
			return nil, fmt.Errorf("models %s: %w", name, err)
		}
	}
	if len(plans) == 0 {
		return nil, errors.New("models must name a file with a map: the kind http has none of its own")
	}
	return plans, nil
}

func add(plans map[planKey]*plan, text []byte, keyHeader string) error {
	plain, err := yaml.YAMLToJSON(text)
	if err != nil {
		return errors.New("is no YAML")
	}
	var doc document
	if err := jsonv2.Unmarshal(plain, &doc, jsonv2.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("is no list of maps: %w", err)
	}
	for _, m := range doc.Models {
		if m == nil || m.Model == "" || m.Capability == "" {
			return errors.New("model and capability are required")
		}
		p, err := newPlan(m, keyHeader)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", m.Model, m.Capability, err)
		}
		plans[planKey{m.Capability, m.Model}] = p
	}
	return nil
}
