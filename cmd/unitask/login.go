package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/secret"
)

const loginLong = `Keep a key in the keyring of this system, under a profile that names the service's base URL.

The key is read from a prompt that doesn't show it, from stdin where that is no terminal, or from
--api-key-file. It is tried on the service first.

Where there is no keyring, --storage=file, or a yes at the terminal, keeps it in a file that a passphrase
encrypts. Each command asks for the passphrase, or takes it from UNITASK_PASSPHRASE. Otherwise nothing is
kept: set UNITASK_API_KEY or use --api-key-file with each command.

Nothing opens that file without its passphrase. Where it is forgotten, --new-passphrase removes the keys that the file
holds, says whose they were, and keeps this one under a new passphrase.

With --operator the key is an operator's. Its profile is for keys, accounts, usage, suppliers and requests,
and is used where --profile or UNITASK_PROFILE names it; it never becomes the current one.`

const badProfileName = "a profile's name is 1 to 64 letters, digits, dots, dashes and underscores"

type loginOptions struct {
	clientFlags
	operator      bool
	storage       string
	newPassphrase bool
}

// keeper stores the key of a login.
type keeper interface {
	Set(ctx context.Context, name string, v secret.Value) error
}

func newLoginCmd(t *terminal) *cobra.Command {
	var o loginOptions
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Keep a key in the keyring, under a profile",
		Long:  loginLong,
		Example: `  unitask login
  unitask login --profile work --base-url https://ai.example.com
  pass show work | unitask login --profile work
  unitask login --operator --base-url https://ai.example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return loginRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().BoolVar(&o.operator, "operator", false, "keep an operator key, for commands such as keys, under a profile of its own")
	cmd.Flags().StringVar(&o.storage, "storage", "keyring", "keep the key in the system's `keyring`, or in an encrypted file")
	cmd.Flags().BoolVar(&o.newPassphrase, "new-passphrase", false, "start the encrypted file anew: its keys are lost (implies --storage=file)")
	_ = cmd.RegisterFlagCompletionFunc("storage", cobra.FixedCompletions([]string{inKeyring, inFile}, cobra.ShellCompDirectiveNoFileComp))
	o.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("data-dir", "operator")
	return cmd
}

// The places of --storage.
const (
	inKeyring = "keyring"
	inFile    = "file"
)

func loginRun(ctx context.Context, t *terminal, o *loginOptions) error {
	if o.newPassphrase {
		o.storage = inFile
	}
	if o.storage != inKeyring && o.storage != inFile {
		return &hint.UsageError{Message: fmt.Sprintf("--storage is keyring or file, not %q", o.storage)}
	}
	o.choice.Operator, o.choice.NoDataDir = o.operator, o.operator
	name, baseURL, err := o.loginTarget(ctx)
	if err != nil {
		return err
	}
	ring, err := o.keeper(ctx, t)
	if err != nil {
		return err
	}
	key, err := o.readKey(ctx, t, baseURL)
	if err != nil {
		return err
	}
	if err := o.tryKey(ctx, t, baseURL, key); err != nil {
		return err
	}
	if err := ring.Set(ctx, name, key); err != nil {
		return err
	}
	if err := o.saveLogin(name, baseURL); err != nil {
		return err
	}
	t.note("profile %s calls %s with the key that ends in %s", name, baseURL, hintOfKey(key))
	if o.operator {
		t.note("unitask keys list --profile %s uses it", name)
		return nil
	}
	t.noteOverrides()
	return nil
}

// keeper opens the place that was chosen; without a keyring a person may agree to the other one.
func (o *loginOptions) keeper(ctx context.Context, t *terminal) (keeper, error) {
	if o.storage == inKeyring {
		ring, err := secret.OpenKeyring(ctx, secret.KeyringConfig{})
		if err == nil {
			err = ring.Probe(ctx)
		}
		if err == nil {
			return ring, nil
		}
		if !t.inTTY {
			return nil, hint.With(err, "unitask login --storage=file keeps it in an encrypted file; UNITASK_API_KEY and --api-key-file need neither")
		}
		t.note("%s", plain(err))
		agreed, askErr := t.agrees(ctx, "Keep the key in a file that a passphrase encrypts?")
		if askErr != nil {
			return nil, askErr
		}
		if !agreed {
			return nil, hint.With(err, "set UNITASK_API_KEY, or give --api-key-file FILE with each command; neither needs a keyring")
		}
		o.storage = inFile
	}
	dir := client.SealedDir()
	if o.newPassphrase && secret.IsSealed(dir) {
		return startAnew(ctx, t, dir)
	}
	passphrase, err := t.passphrase(ctx, dir)
	if err != nil {
		return nil, err
	}
	return secret.OpenSealed(ctx, dir, passphrase)
}

// startAnew asks for a new passphrase in place of a forgotten one. No key is removed before the new one was tried.
func startAnew(ctx context.Context, t *terminal, dir string) (keeper, error) {
	all, err := client.LoadProfiles(client.ConfigDir())
	if err != nil {
		return nil, err
	}
	anew := sealedAnew{t: t, dir: dir}
	for _, name := range slices.Sorted(maps.Keys(all.Profiles)) {
		if all.Profiles[name].Sealed {
			anew.lost = append(anew.lost, name)
		}
	}
	if t.inTTY && len(anew.lost) > 0 {
		if agreed, err := t.agrees(ctx, "This removes "+keysOf(anew.lost)+". Go on?"); !agreed {
			return nil, cmp.Or(err, errors.New("nothing was changed"))
		}
	}
	anew.passphrase, err = t.choosePassphrase(ctx, dir, true)
	return anew, err
}

// sealedAnew is a folder of encrypted keys that is emptied before a key is kept in it.
type sealedAnew struct {
	t          *terminal
	dir        string
	passphrase secret.Value
	lost       []string // profiles whose keys are in it
}

// Set removes the old keys, says so, and keeps a key under the new passphrase.
func (s sealedAnew) Set(ctx context.Context, name string, v secret.Value) error {
	if err := secret.ForgetSealed(s.dir); err != nil {
		return err
	}
	err := s.t.changeProfiles(func(all *client.Profiles) error {
		for _, name := range s.lost {
			p := all.Profiles[name]
			p.Sealed = false
			all.Profiles[name] = p
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(s.lost) > 0 {
		s.t.note("removed: %s; they stay valid until they are revoked, and unitask login --profile NAME keeps another one", keysOf(s.lost))
	}
	ring, err := secret.OpenSealed(ctx, s.dir, s.passphrase)
	if err != nil {
		return err
	}
	return ring.Set(ctx, name, v)
}

func keysOf(profiles []string) string {
	return "the keys of these profiles: " + strings.Join(profiles, ", ")
}

// loginTarget chooses the profile: the named one, else the one that fits the base URL, else a new
// one with the host's name.
func (f *clientFlags) loginTarget(ctx context.Context) (name, baseURL string, err error) {
	name = cmp.Or(f.choice.Profile, os.Getenv("UNITASK_PROFILE"))
	if name != "" && !client.ValidProfileName(name) {
		return "", "", &hint.UsageError{Message: badProfileName}
	}
	all, err := client.LoadProfiles(client.ConfigDir())
	if err != nil {
		return "", "", err
	}
	if _, known := all.Profiles[name]; name != "" && !known {
		base := cmp.Or(f.choice.BaseURL, os.Getenv("UNITASK_BASE_URL"), client.DefaultBaseURL)
		u, err := client.ParseBaseURL(base)
		if err != nil {
			return "", "", &hint.UsageError{Message: plain(err)}
		}
		return name, u.String(), nil
	}
	target, err := f.target(ctx)
	if err != nil {
		return "", "", err
	}
	if target.Name != "" {
		if target.Profile.Operator != f.choice.Operator {
			return "", "", &hint.UsageError{Message: "profile " + target.Name + " is for the other kind of keys, API keys or operators': --profile names another one"}
		}
		return target.Name, target.BaseURL, nil
	}
	u, err := client.ParseBaseURL(target.BaseURL)
	if err != nil {
		return "", "", err
	}
	host := u.Hostname()
	if f.choice.Operator {
		host += "-operator"
	}
	if _, taken := all.Profiles[host]; taken { // by a service on another port
		host += "-" + u.Port()
	}
	if client.ValidProfileName(host) {
		return host, target.BaseURL, nil
	}
	return "default", target.BaseURL, nil // an address such as ::1 is no profile's name
}

// readKey reads the key to keep: never from a flag or the environment.
func (f *clientFlags) readKey(ctx context.Context, t *terminal, baseURL string) (secret.Value, error) {
	if f.keyFile != "" {
		return client.ReadKeyFile(f.keyFile, t.stdin(ctx))
	}
	if !t.inTTY {
		return client.ReadKeyFile("-", t.stdin(ctx))
	}
	text, err := t.readHidden(ctx, "key for "+baseURL+": ")
	if err != nil {
		return secret.Value{}, err
	}
	return client.ParseKey(text)
}

// tryKey asks the service whether it takes the key.
func (o *loginOptions) tryKey(ctx context.Context, t *terminal, baseURL string, key secret.Value) error {
	if o.operator {
		_, err := tryOperatorKey(ctx, baseURL, key)
		return err
	}
	if err := checkKind(key, false); err != nil {
		return err
	}
	c, err := client.New(client.Config{
		BaseURL: baseURL, UserAgent: "unitask/" + readBuild().Version,
		Key: func(context.Context) (secret.Value, error) { return key, nil },
	})
	if err != nil {
		return err
	}
	all, err := c.Capabilities(ctx)
	if fault.CodeOf(err) == fault.Unauthenticated {
		return hint.With(err, "nothing was kept; unitask keys create makes a key, where the service's data folder is")
	}
	if err != nil {
		return err
	}
	t.note("the key opens %d capabilities", len(all))
	return nil
}

// saveLogin makes the profile the current one, unless it is an operator's. Its other members stay.
func (o *loginOptions) saveLogin(name, baseURL string) error {
	var ref secret.Ref // an encrypted file is found by the profile's name
	if o.storage == inKeyring {
		var err error
		if ref, err = secret.ParseRef("keyring:" + name); err != nil {
			return err
		}
	}
	dir := client.ConfigDir()
	all, err := client.LoadProfiles(dir)
	if err != nil {
		return err
	}
	p := all.Profiles[name]
	if p.BaseURL != baseURL {
		p.DataDir = "" // of a server at another address
	}
	p.BaseURL, p.Key, p.Sealed, p.Operator = baseURL, ref, o.storage == inFile, o.operator
	all.Profiles[name] = p
	if !o.operator {
		all.Current = name
	}
	return all.Save(dir)
}

// hintOfKey is the end of a key: enough to tell keys apart, not to use one.
func hintOfKey(v secret.Value) string {
	const shown, least = 4, 16
	text := v.Reveal()
	if len(text) < least {
		return "…"
	}
	return text[len(text)-shown:]
}
