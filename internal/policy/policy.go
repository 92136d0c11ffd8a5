// Package policy decides which content a service accepts: by the operator's patterns, which refuse a request before
// it is recorded, and by a moderation supplier, who is asked before anything else is sent to a supplier.
//
// It judges only the texts of an input: no media, and no model's answers. A refusal names the field, never the rule,
// so that it can't be used to find out how to get around it. A Policy is immutable and safe for concurrent use; it
// keeps no text.
package policy

import (
	"encoding/json"
	"regexp"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/fault"
)

// Policy is the rules for new work. The zero Policy, and a nil one, take everything.
type Policy struct {
	Rules      []Rule
	Moderation *Moderation // nil: no moderation
}

// Rule refuses requests whose text it matches.
type Rule struct {
	Name         string // for the operator
	Pattern      *regexp.Regexp
	Capabilities []string // patterns of names, as account.Allows reads them; empty: all. A tier's base counts as it does.
}

// mostRows bounds the fields that a refusal names.
const mostRows = 20

// Refusal is a request that the rules refuse.
type Refusal struct {
	Fault *fault.Error // for the caller
	Rules []string     // for the operator: the rule of each row of the Fault's details
}

// Error is the text for the caller.
func (r *Refusal) Error() string { return r.Fault.Error() }

// Unwrap returns the Fault.
func (r *Refusal) Unwrap() error { return r.Fault }

// Refuse judges a validated input by the rules; nil: no rule matches.
func (p *Policy) Refuse(c catalog.Capability, input json.RawMessage) *Refusal {
	rules := p.rulesFor(c)
	if len(rules) == 0 {
		return nil
	}
	var refused Refusal
	var rows []fault.Detail
	for _, text := range c.Texts(input) {
		for _, r := range rules {
			if len(rows) < mostRows && r.Pattern.MatchString(text.Text) {
				rows = append(rows, fault.Detail{Field: text.Field, Message: "is refused by the service's content rules"})
				refused.Rules = append(refused.Rules, r.Name)
				break
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	refused.Fault = violation(rows)
	return &refused
}

func (p *Policy) rulesFor(c catalog.Capability) []Rule {
	if p == nil {
		return nil
	}
	var rules []Rule
	for _, r := range p.Rules {
		if holdsFor(r.Capabilities, c) {
			rules = append(rules, r)
		}
	}
	return rules
}

// holdsFor reports whether a pattern means the capability or the one that it extends, so that no tier which is added
// later escapes a rule.
func holdsFor(patterns []string, c catalog.Capability) bool {
	return account.Allows(patterns, string(c.Name)) || account.Allows(patterns, string(c.Base()))
}

// violation is the fault that names these fields; the first gives the message.
func violation(rows []fault.Detail) *fault.Error {
	return fault.New(fault.ContentPolicyViolation, rows[0].Field+" "+rows[0].Message).WithDetails(rows...)
}
