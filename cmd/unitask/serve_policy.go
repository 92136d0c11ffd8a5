package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"unitask/internal/config"
	"unitask/internal/policy"
	"unitask/internal/supplier"
)

// addPolicy makes the content policy, of checked settings and the suppliers that were found.
func (s *supply) addPolicy(c config.Policy) error {
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
			return &hinted{
				fmt.Errorf("policy.moderation: supplier %s isn't there to be asked", m.Supplier),
				"set its key in the environment, or take policy.moderation out",
			}
		}
		p.Moderation = &policy.Moderation{
			Supplier: m.Supplier, Model: m.Model, Adapter: adapter, Capabilities: m.Capabilities,
			Price: m.Price.Task(), AllowFailed: m.OnFailure == config.AllowFailed,
		}
	}
	s.policy = p
	return nil
}

// aboutPolicy says in a line what content is taken; "" where all is.
func (s supply) aboutPolicy() string {
	if s.policy == nil {
		return ""
	}
	var parts []string
	if n := len(s.policy.Rules); n > 0 {
		parts = append(parts, fmt.Sprintf("%d content rules", n))
	}
	if m := s.policy.Moderation; m != nil {
		otherwise := "refused"
		if m.AllowFailed {
			otherwise = "taken"
		}
		scope := "all work"
		if len(m.Capabilities) > 0 {
			scope = strings.Join(m.Capabilities, ", ")
		}
		parts = append(parts, fmt.Sprintf("%s is asked about the texts of %s, which are %s where it can't be", m.Supplier, scope, otherwise))
	}
	return strings.Join(parts, "; ")
}
