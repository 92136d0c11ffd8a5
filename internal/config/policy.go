package config

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/task"
)

// Policy decides which content is accepted.
type Policy struct {
	Rules      []Rule     `yaml:"rules"`
	Moderation Moderation `yaml:"moderation"`
}

// Rule refuses a request before it is recorded.
type Rule struct {
	Name         string   `yaml:"name" doc:"how the log calls it; by default its place in the list"`
	Pattern      Pattern  `yaml:"pattern" doc:"a regular expression (RE2); a request with a text that it matches is refused"`
	Capabilities []string `yaml:"capabilities" doc:"where it holds: names, or patterns such as text.*; by default everywhere"`
}

// Moderation is a supplier who is asked about the texts of live tasks before anything else is sent.
type Moderation struct {
	Supplier     string    `yaml:"supplier" doc:"the name of a supplier of kind openai, who answers at /moderations"`
	Model        string    `yaml:"model" default:"omni-moderation-latest" doc:"the supplier's own name of the model"`
	Capabilities []string  `yaml:"capabilities" doc:"for which work it is asked: names, or patterns such as text.*; by default all but text.moderate"`
	OnFailure    OnFailure `yaml:"on_failure" default:"refuse" doc:"where it can't be asked: refuse (the task fails and may be retried) or allow"`
	Price        Price     `yaml:"price" doc:"what the supplier charges; by default nothing"`
}

// Asked reports whether a supplier is to be asked.
func (m Moderation) Asked() bool { return m.Supplier != "" }

// Pattern is a regular expression in RE2's syntax.
type Pattern string

// UnmarshalText reads a pattern that matches something, but not everything.
func (p *Pattern) UnmarshalText(text []byte) error {
	compiled, err := regexp.Compile(string(text))
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return errors.New("is no regular expression: " + e.Code.String())
	}
	if err == nil && compiled.MatchString("") {
		return errors.New("matches an empty text, and so would refuse every request")
	}
	*p = Pattern(text)
	return err
}

// MarshalText is the inverse of UnmarshalText.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p), nil }

// OnFailure decides about work whose content could not be reviewed.
type OnFailure string

// The choices.
const (
	RefuseFailed OnFailure = "refuse"
	AllowFailed  OnFailure = "allow"
)

// UnmarshalText reads one of the choices.
func (o *OnFailure) UnmarshalText(text []byte) error {
	if *o = OnFailure(text); *o != RefuseFailed && *o != AllowFailed {
		return errors.New("must be refuse or allow")
	}
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (o OnFailure) MarshalText() ([]byte, error) { return []byte(o), nil }

// checkPolicy checks the rules, and that the supplier who is asked is one who can answer.
func (r *report) checkPolicy(c *Config, moderators []string, directory *catalog.Catalog) {
	for i, rule := range c.Policy.Rules {
		path := elementOf("policy.rules", i)
		if rule.Pattern == "" {
			r.add(path+".pattern", "is required", "for example '(?i)internal use only'")
		}
		r.checkScope(path+".capabilities", rule.Capabilities, directory)
	}
	const path = "policy.moderation"
	m := c.Policy.Moderation
	r.checkScope(path+".capabilities", m.Capabilities, directory)
	switch kind, known := c.kindOf(m.Supplier); {
	case !m.Asked() && (len(m.Capabilities) > 0 || m.OnFailure != RefuseFailed || m.Price != (Price{})):
		r.add(path, "needs a supplier", "one of kind "+strings.Join(moderators, ", "))
	case !m.Asked():
	case !known:
		r.add(path+".supplier", "names no supplier", oneOf(m.Supplier, c.supplierNames()))
	case !slices.Contains(moderators, kind):
		r.add(path+".supplier", "can't be asked: its kind "+kind+" has no moderation", "one of kind "+strings.Join(moderators, ", "))
	case m.Model == "":
		r.add(path+".model", "is required", "")
	}
	if m.Price != (Price{}) {
		r.checkPrice(path+".price", m.Price)
	}
	switch task.Unit(m.Price.Unit) {
	case "", task.PerMillionTokens, task.PerMillionCharacters, task.PerRequest:
	default:
		r.add(path+".price.unit", "must be mtok, mchar or request", "")
	}
	for _, rate := range m.Price.rates() {
		if rate.unit != task.PerRequest {
			r.add(path+".price."+rate.name, "isn't counted in questions about content", "with it they would be free")
		}
	}
}

// checkScope refuses a pattern that no capability is meant by.
func (r *report) checkScope(path string, patterns []string, directory *catalog.Catalog) {
	for i, p := range patterns {
		var names []string
		for _, c := range directory.All() {
			names = append(names, string(c.Name))
		}
		if !slices.ContainsFunc(names, func(name string) bool { return account.Allows([]string{p}, name) }) {
			r.add(elementOf(path, i), "means no capability", oneOf(p, names))
		}
	}
}

// kindOf returns the kind of a supplier: a configured one or, without any, a built-in one.
func (c *Config) kindOf(name string) (kind string, known bool) {
	for _, s := range c.named() {
		if s.Name == name {
			return s.Kind, true
		}
	}
	return "", false
}

func (c *Config) supplierNames() []string {
	var names []string
	for _, s := range c.named() {
		names = append(names, s.Name)
	}
	return names
}

func (c *Config) named() []Supplier {
	if c.HasRoutes() {
		return c.Suppliers
	}
	var all []Supplier
	for _, b := range Builtins() {
		all = append(all, b.Supplier)
	}
	return all
}
