package client

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"unitask/internal/fault"
	"unitask/internal/secret"
)

// Choice is the choice on the command line; zero members leave the choice to the environment, then to the profiles,
// then to the defaults.
type Choice struct {
	ConfigDir string // "": ConfigDir()
	Profile   string // else UNITASK_PROFILE, else the one with the chosen base URL, else the current one
	BaseURL   string // else UNITASK_BASE_URL, else the profile's, else DefaultBaseURL
	DataDir   string // of a server on this machine; else UNITASK_DATA_DIR. Only if no profile and no base URL is chosen

	NoDataDir bool // UNITASK_DATA_DIR doesn't choose
	Operator  bool // of the profiles that aren't named, only those of operators may fit
}

// Target is the service to call and the profile that goes with it.
type Target struct {
	BaseURL string
	Name    string  // of the profile; "" without one
	Profile Profile // zero without one
	Named   bool    // the profile was named, by the flag or, if no base URL is named, by the variable

	Passphrase func(ctx context.Context, dir string) (secret.Value, error) // of the folder of encrypted keys; nil: no person to ask
}

// Target finds the service. A profile that was named must exist, and a server on a data folder that no profile names
// must run: its base URL is asked for.
func (c Choice) Target(ctx context.Context) (Target, error) {
	all, err := LoadProfiles(cmp.Or(c.ConfigDir, ConfigDir()))
	if err != nil {
		return Target{}, err
	}
	if dir := c.dataDir(); dir != "" {
		return all.local(ctx, dir)
	}
	base, err := normalized(cmp.Or(c.BaseURL, os.Getenv("UNITASK_BASE_URL")))
	if err != nil {
		return Target{}, err
	}
	named := cmp.Or(c.Profile, os.Getenv("UNITASK_PROFILE"))
	name := cmp.Or(named, all.matching(base, c.Operator))
	profile, known := all.Profiles[name]
	if named != "" && !known {
		return Target{}, fault.Invalid(fmt.Sprintf("profile %q", named), "doesn't exist")
	}
	if known {
		own, err := normalized(profile.BaseURL)
		if err != nil {
			return Target{}, err
		}
		profile.BaseURL = own
		chosen := c.Profile != "" || named != "" && base == ""
		return Target{BaseURL: cmp.Or(base, own), Name: name, Profile: profile, Named: chosen}, nil
	}
	return Target{BaseURL: cmp.Or(base, DefaultBaseURL)}, nil
}

// dataDir returns the data folder of the chosen server; "" if a profile or a base URL chooses.
func (c Choice) dataDir() string {
	switch {
	case c.Profile != "" || c.BaseURL != "":
		return ""
	case c.DataDir == "" && (os.Getenv("UNITASK_PROFILE") != "" || os.Getenv("UNITASK_BASE_URL") != ""):
		return ""
	case c.NoDataDir:
		return c.DataDir
	default:
		return cmp.Or(c.DataDir, os.Getenv("UNITASK_DATA_DIR"))
	}
}

// local finds the server on a data folder of this machine.
func (p Profiles) local(ctx context.Context, dir string) (Target, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Target{}, err
	}
	if name := p.OfDataDir(dir); name != "" {
		one := p.Profiles[name]
		one.BaseURL, err = normalized(one.BaseURL)
		return Target{BaseURL: one.BaseURL, Name: name, Profile: one}, err
	}
	admin, err := NewAdmin(dir)
	if err != nil {
		return Target{}, err
	}
	info, err := admin.Info(ctx)
	if err != nil {
		return Target{}, err
	}
	base, err := normalized(info.BaseURL)
	return Target{BaseURL: base, Profile: Profile{BaseURL: base, DataDir: dir}}, err
}

// matching returns the profile to use for a base URL by default: the current one if it fits, else the first by name
// that does; for no base URL the current one. A profile with an operator key fits operators alone, and no other does.
func (p Profiles) matching(base string, operator bool) string {
	fits := func(name string) bool {
		one, known := p.Profiles[name]
		own, err := normalized(one.BaseURL)
		return known && err == nil && one.Operator == operator && (base == "" || own == base)
	}
	if fits(p.Current) {
		return p.Current
	}
	if base == "" {
		return ""
	}
	var found []string
	for name := range p.Profiles {
		if fits(name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// normalized returns a base URL in the form that is compared; "" stays "".
func normalized(base string) (string, error) {
	if base == "" {
		return "", nil
	}
	u, err := ParseBaseURL(base)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}
