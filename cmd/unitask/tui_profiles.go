package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/save"
	"unitask/internal/secret"
	"unitask/internal/submit"
	"unitask/internal/tui"
)

// asStarted names the service that the dashboard began with, if it is no profile with its own key. No profile can have
// this name.
const asStarted = "as started"

// dashboardProfiles are the services that the dashboard can go over to. It is safe for concurrent use.
type dashboardProfiles struct {
	t     *terminal
	first tui.Reached // the one that it began with
	base  string      // its address
}

// reached is a service as the dashboard uses it.
func (t *terminal) reached(ctx context.Context, s *submit.Service, profile string) tui.Reached {
	return tui.Reached{Service: s, Files: save.Files{Client: s.Client}, Talks: dashboardTalks{s}, Where: s.Describe(ctx), Profile: profile}
}

// beginning is the service that the flags and the environment name.
func (p *dashboardProfiles) beginning(ctx context.Context, s *submit.Service, key client.Source) {
	name := s.Target.Name
	if name == "" || key == client.FromFile || key == client.FromEnvironment || s.Target.BaseURL != s.Target.Profile.BaseURL {
		name = asStarted
	}
	p.first, p.base = p.t.reached(ctx, s, name), s.Target.BaseURL
}

// List returns the profiles of API keys, by their names.
func (p *dashboardProfiles) List() ([]tui.Profile, error) {
	saved, err := client.LoadProfiles(client.ConfigDir())
	if err != nil {
		return nil, err
	}
	var all []tui.Profile
	if p.first.Profile == asStarted {
		all = append(all, tui.Profile{Name: asStarted, BaseURL: p.base})
	}
	for _, name := range slices.Sorted(maps.Keys(saved.Profiles)) {
		if one := saved.Profiles[name]; !one.Operator {
			all = append(all, tui.Profile{Name: name, BaseURL: one.BaseURL})
		}
	}
	return all, nil
}

// Open finds a profile's service with the profile's own key: that of the environment may be for another service.
func (p *dashboardProfiles) Open(ctx context.Context, name string) (tui.Reached, error) {
	if name == p.first.Profile {
		return p.first, nil
	}
	saved, err := client.LoadProfiles(client.ConfigDir())
	if err != nil {
		return tui.Reached{}, err
	}
	profile, err := findProfile(saved, name)
	if err != nil {
		return tui.Reached{}, err
	}
	base, err := client.ParseBaseURL(profile.BaseURL)
	if err != nil {
		return tui.Reached{}, err
	}
	profile.BaseURL = base.String()
	target := client.Target{BaseURL: profile.BaseURL, Name: name, Profile: profile, Named: true}
	target.Passphrase = func(context.Context, string) (secret.Value, error) {
		return secret.Value{}, hint.With(errors.New("its key is in an encrypted file, whose passphrase can't be asked for here"),
			"unitask tui --profile "+name+" asks for it")
	}
	credential, err := target.Kept(ctx)
	if err != nil {
		return tui.Reached{}, err
	}
	if credential.Source != client.FromLocalServer { // which gives API keys alone
		key, err := credential.Key(ctx)
		if err == nil {
			err = checkKind(key, false)
		}
		if err != nil {
			return tui.Reached{}, err
		}
	}
	c, err := newClient(p.t, target, credential, quiet)
	if err != nil {
		return tui.Reached{}, err
	}
	flags := clientFlags{choice: client.Choice{Profile: name}}
	return p.t.reached(ctx, flags.service(c, target, credential), name), nil
}
