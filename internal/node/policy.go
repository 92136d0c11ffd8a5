package node

import (
	"cmp"
	"fmt"
	"regexp"

	"unitask/internal/config"
	"unitask/internal/hint"
	"unitask/internal/policy"
	"unitask/internal/supplier"
)

// addPolicy makes the content policy from checked settings and the suppliers that were found.
func (s *Suppliers) addPolicy(c config.Policy) error {
	p := &policy.Policy{}
	for i, r := range c.Rules {
		compiled, err := regexp.Compile(string(r.Pattern))
		if err != nil {
			return err
		}
		name := cmp.Or(r.Name, fmt.Sprintf("policy.rules[%d]", i))
		p.Rules = append(p.Rules, policy.Rule{Name: name, Pattern: compiled, Capabilities: r.Capabilities})
	}
	if m := c.Moderation; m.Asked() {
		adapter, ok := s.adapters[m.Supplier].(supplier.Moderator)
		if !ok {
			return hint.With(fmt.Errorf("policy.moderation: supplier %s isn't there to be asked", m.Supplier),
				"set its key in the environment, or take policy.moderation out")
		}
		p.Moderation = &policy.Moderation{
			Supplier: m.Supplier, Model: m.Model, Adapter: adapter, Capabilities: m.Capabilities,
			Price: m.Price.Task(), AllowFailed: m.OnFailure == config.AllowFailed,
		}
	}
	s.Policy = p
	return nil
}
