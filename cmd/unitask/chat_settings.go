package main

import (
	"encoding/json"
	"errors"
	"strings"

	"unitask/internal/arguments"
	"unitask/internal/chat"
	"unitask/internal/hint"
)

// fitSetting takes a word name=value into the settings; an empty value takes the parameter out.
func (s *chatSession) fitSetting(settings chat.Settings, word string) (chat.Settings, error) {
	a := arguments.Parse(word)
	if a.Name == "" {
		return settings, &hint.UsageError{Message: "a parameter is written name=value", Hint: "unitask capabilities " + string(s.Entry.Name)}
	}
	name, _, _ := strings.Cut(a.Name, ".")
	all := map[string]json.RawMessage{}
	if settings.Parameters != nil {
		if err := json.Unmarshal(settings.Parameters, &all); err != nil {
			return settings, err
		}
	}
	if a.Value == "" && all[name] != nil {
		delete(all, name)
		return withParameters(settings, all)
	}
	read := &arguments.Reader{StdinUsed: true}
	req, err := arguments.Fit(s.Entry, []string{s.Prompt() + `:="x"`, word}, read)
	if err != nil {
		return settings, err
	}
	var input map[string]json.RawMessage
	var parameters map[string]json.RawMessage
	err = json.Unmarshal(req.Input, &input)
	if len(req.Parameters) > 0 {
		err = errors.Join(err, json.Unmarshal(req.Parameters, &parameters))
	}
	if err != nil {
		return settings, err
	}
	delete(input, s.Prompt())
	if system := input["system"]; system != nil {
		delete(input, "system")
		err = json.Unmarshal(system, &settings.System)
	}
	if len(input) > 0 || name == s.Prompt() || name == "messages" {
		return settings, &hint.UsageError{Message: a.Name + " is no parameter of a conversation", Hint: "unitask capabilities " + string(s.Entry.Name)}
	}
	for name, value := range parameters {
		all[name] = value
	}
	settings, again := withParameters(settings, all)
	return settings, errors.Join(err, again)
}

func withParameters(settings chat.Settings, all map[string]json.RawMessage) (chat.Settings, error) {
	if len(all) == 0 {
		settings.Parameters = nil
		return settings, nil
	}
	raw, err := json.Marshal(all)
	settings.Parameters = raw
	return settings, err
}
