package client

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"unitask/internal/fault"
	"unitask/internal/secret"
)

// Source is the origin of a key.
type Source string

// The sources, in the order in which they are looked at.
const (
	FromFile        Source = "--api-key-file"
	FromEnvironment Source = "UNITASK_API_KEY"
	FromOperator    Source = "UNITASK_OPERATOR_KEY" // of operator's commands, in the place of the two above
	FromKeyring     Source = "keyring"              // or wherever else the profile's reference points
	FromSealed      Source = "encrypted file"
	FromLocalServer Source = "local server"
)

const (
	maxKey       = 4096             // characters; a wrong file isn't sent as a key
	renewalAhead = 30 * time.Second // a session key is replaced this long before it expires
)

// Credential is the way to a key.
type Credential struct {
	Source Source
	Key    KeyFunc
	Renew  KeyFunc // nil if a fresh key can't be had
}

// NoKeyError reports that no place holds a key for the service.
type NoKeyError struct {
	BaseURL string
	Profile string // the profile that was used, "" without one
	KeyFor  string // the base URL that the profile's key is for, if it is another one
}

// Error names the service, and the one that the profile's key is kept from being sent away from.
func (e *NoKeyError) Error() string {
	if e.KeyFor != "" {
		return fmt.Sprintf("no key for %s: the one of profile %s is for %s and goes nowhere else", e.BaseURL, e.Profile, e.KeyFor)
	}
	return "no key for " + e.BaseURL
}

// Credential finds the key for a target: the file (or stdin, for "-"), UNITASK_API_KEY, the key of the profile's
// login (in the keyring, else in an encrypted file), a session key of the server on this machine. The last two go to
// the profile's own base URL only.
func (t Target) Credential(ctx context.Context, keyFile string, stdin io.Reader) (Credential, error) {
	if keyFile != "" {
		v, err := ReadKeyFile(keyFile, stdin)
		return fixed(FromFile, v), err
	}
	if text := os.Getenv("UNITASK_API_KEY"); text != "" {
		v, err := ParseKey(text)
		return fixed(FromEnvironment, v), err
	}
	return t.Kept(ctx)
}

// OperatorCredential finds the operator key for a target: UNITASK_OPERATOR_KEY, unless the profile was named, else the
// key of the profile's login, for the profile's own base URL. The variable's key goes to no profile that was named: it
// may be for another server.
func (t Target) OperatorCredential(ctx context.Context) (Credential, error) {
	if text := os.Getenv(string(FromOperator)); text != "" && !t.Named {
		v, err := ParseKey(text)
		return fixed(FromOperator, v), err
	}
	if !t.Profile.Operator {
		return Credential{}, &NoKeyError{BaseURL: t.BaseURL, Profile: t.Name}
	}
	return t.Kept(ctx)
}

// Kept finds the key that the profile has, whatever the command line and the environment say.
func (t Target) Kept(ctx context.Context) (Credential, error) {
	if t.Name != "" && t.Profile.BaseURL != t.BaseURL {
		return Credential{}, &NoKeyError{BaseURL: t.BaseURL, Profile: t.Name, KeyFor: t.Profile.BaseURL}
	}
	switch from := t.Profile.KeyFrom(); from {
	case FromKeyring:
		v, err := t.Profile.Key.Resolve(ctx)
		return fixed(from, v), err
	case FromSealed:
		v, err := t.unseal(ctx)
		return fixed(from, v), err
	case FromLocalServer:
		return sessionCredential(t.Profile.DataDir)
	default:
		return Credential{}, &NoKeyError{BaseURL: t.BaseURL, Profile: t.Name}
	}
}

// unseal decrypts the profile's key.
func (t Target) unseal(ctx context.Context) (secret.Value, error) {
	if t.Passphrase == nil {
		return secret.Value{}, &secret.Error{Kind: secret.ErrPassphrase, Message: "nobody can be asked for the passphrase of the encrypted keys"}
	}
	passphrase, err := t.Passphrase(ctx, SealedDir())
	if err != nil {
		return secret.Value{}, err
	}
	ring, err := secret.OpenSealed(ctx, SealedDir(), passphrase)
	if err != nil {
		return secret.Value{}, err
	}
	return ring.Get(ctx, t.Name)
}

// ReadKeyFile reads a key from a file, or from stdin if the name is "-".
func ReadKeyFile(name string, stdin io.Reader) (secret.Value, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return secret.Value{}, &secret.Error{
				Kind: secret.ErrNotFound, Message: "no key can be read from a file: " + strings.TrimPrefix(err.Error(), "open "),
				Hint: "--api-key-file names a file that holds one key, or - for stdin",
			}
		}
		defer func() { _ = f.Close() }()
		stdin = f
	}
	raw, err := io.ReadAll(io.LimitReader(stdin, maxKey+1))
	if err != nil {
		return secret.Value{}, err
	}
	return ParseKey(string(raw))
}

// ParseKey takes one printable word as a key; white space around it is cut. It doesn't judge the
// form: the service does.
func ParseKey(text string) (secret.Value, error) {
	text = strings.TrimSpace(text)
	outside := func(r rune) bool { return r <= ' ' || r > '~' }
	if text == "" || len(text) > maxKey || strings.ContainsFunc(text, outside) {
		return secret.Value{}, fault.New(fault.Unauthenticated, "what was given as a key isn't one: a key is one printable word")
	}
	return secret.New(text), nil
}

func fixed(s Source, v secret.Value) Credential {
	return Credential{Source: s, Key: func(context.Context) (secret.Value, error) { return v, nil }}
}

// session keeps a short-lived key of the local server in memory.
type session struct {
	admin   *Admin
	mu      sync.Mutex
	value   secret.Value
	expires time.Time // zero: never
}

func sessionCredential(dataDir string) (Credential, error) {
	admin, err := NewAdmin(dataDir)
	if err != nil {
		return Credential{}, err
	}
	s := &session{admin: admin}
	return Credential{Source: FromLocalServer, Key: s.key, Renew: s.renew}, nil
}

func (s *session) key(ctx context.Context) (secret.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.value.IsZero() && (s.expires.IsZero() || time.Until(s.expires) > renewalAhead) {
		return s.value, nil
	}
	return s.renewLocked(ctx)
}

func (s *session) renew(ctx context.Context) (secret.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewLocked(ctx)
}

func (s *session) renewLocked(ctx context.Context) (secret.Value, error) {
	k, err := s.admin.SessionKey(ctx)
	if err != nil {
		return secret.Value{}, err
	}
	v, err := ParseKey(k.Secret)
	if err != nil {
		return secret.Value{}, err
	}
	s.value, s.expires = v, time.Time{}
	if k.ExpiresAt != nil {
		s.expires = k.ExpiresAt.Time
	}
	return v, nil
}
