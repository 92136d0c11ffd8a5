package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"unitask/internal/fault"
	"unitask/internal/secret"
)

// LocalProfile is the profile that a server's first run on this machine saves.
const LocalProfile = "local"

const (
	profilesFile   = "profiles.json"
	maxProfileName = 64
)

// Profile names a service. It never holds a key, only a reference to one.
type Profile struct {
	BaseURL string     `json:"base_url"`
	DataDir string     `json:"data_dir,omitempty"` // of a server on this machine, which gives its user short-lived test keys
	Key     secret.Ref `json:"key,omitzero"`       // the key's place since login
	Sealed  bool       `json:"sealed,omitempty"`   // login kept it in an encrypted file, under the profile's name

	Operator bool `json:"operator,omitempty"` // the key is an operator's: the profile is for operator's commands alone
}

// Profiles is the content of the profiles file.
type Profiles struct {
	Current  string             `json:"current,omitempty"` // the profile used by default
	Profiles map[string]Profile `json:"profiles"`
}

// ConfigDir returns the folder of the client's settings: UNITASK_CONFIG_DIR, else "unitask" in the
// user's configuration folder.
func ConfigDir() string {
	if dir := os.Getenv("UNITASK_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(xdg.ConfigHome, "unitask")
}

// SealedDir returns the folder of encrypted keys.
func SealedDir() string { return filepath.Join(ConfigDir(), "keys") }

// LoadProfiles reads the profiles in a configuration folder; a missing file is empty.
func LoadProfiles(dir string) (Profiles, error) {
	path := filepath.Join(dir, profilesFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Profiles{Profiles: map[string]Profile{}}, nil
	}
	if err != nil {
		return Profiles{}, err
	}
	p, err := ParseProfiles(raw)
	if err != nil {
		return Profiles{}, fault.Newf(fault.InvalidRequest, "%s is damaged: %v", path, err)
	}
	return p, nil
}

// ParseProfiles reads the profiles file. A key written in a reference's place is refused and not
// repeated.
func ParseProfiles(raw []byte) (Profiles, error) {
	var p Profiles
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Profiles{}, err
	}
	if !errors.Is(d.Decode(&struct{}{}), io.EOF) {
		return Profiles{}, errors.New("there is more than one JSON value")
	}
	if p.Profiles == nil {
		p.Profiles = map[string]Profile{}
	}
	for name, one := range p.Profiles {
		if !ValidProfileName(name) {
			return Profiles{}, errors.New("a profile's name is 1 to 64 letters, digits, dots, dashes and underscores")
		}
		if _, err := ParseBaseURL(one.BaseURL); err != nil {
			return Profiles{}, err
		}
	}
	return p, nil
}

// KeyFrom returns the origin of the profile's key; "" without one.
func (p Profile) KeyFrom() Source {
	switch {
	case !p.Key.IsZero():
		return FromKeyring
	case p.Sealed:
		return FromSealed
	case p.DataDir != "":
		return FromLocalServer
	default:
		return ""
	}
}

// OfDataDir returns the profile of the server on a data folder, the first by name; "" without one.
func (p Profiles) OfDataDir(dir string) string {
	for _, name := range slices.Sorted(maps.Keys(p.Profiles)) {
		if p.Profiles[name].DataDir == dir {
			return name
		}
	}
	return ""
}

// Settle makes another profile the current one if that has no key: LocalProfile, else the first by name that has one.
// Without any, the current one stays.
func (p *Profiles) Settle() {
	usable := func(name string) bool { return p.Profiles[name].KeyFrom() != "" && !p.Profiles[name].Operator }
	if usable(p.Current) {
		return
	}
	for _, name := range append([]string{LocalProfile}, slices.Sorted(maps.Keys(p.Profiles))...) {
		if usable(name) {
			p.Current = name
			return
		}
	}
}

// SaveProfile adds or replaces one profile; the first one becomes the current one. Two programs that
// save at the same moment may lose one of the two changes, never the file.
func SaveProfile(dir, name string, p Profile) error {
	all, err := LoadProfiles(dir)
	if err != nil {
		return err
	}
	all.Profiles[name] = p
	if _, known := all.Profiles[all.Current]; !known {
		all.Current = name
	}
	return all.Save(dir)
}

// Save replaces the profiles file in one step; file and folder are the user's alone.
func (p Profiles) Save(dir string) error {
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if _, err := ParseProfiles(raw); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, profilesFile+".*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append(raw, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, profilesFile))
}

// ValidProfileName reports whether a profile may have this name.
func ValidProfileName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return name != "" && len(name) <= maxProfileName && strings.Trim(name, letters) == ""
}
