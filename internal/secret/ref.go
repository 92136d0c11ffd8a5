package secret

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// DefaultService is the default keyring service of a reference and a configuration.
const DefaultService = "unitask"

// Ref is the place of a secret. It is comparable and holds no secret; the zero Ref is no reference. It is safe to
// print and to store.
type Ref struct {
	scheme scheme
	name   string // the variable, the clean absolute path, or "service/name"
}

type scheme string

const (
	schemeEnv     scheme = "env"
	schemeFile    scheme = "file"
	schemeKeyring scheme = "keyring"
)

// ParseRef reads "env:NAME", "file:/path", "keyring:name" or "keyring:service/name". Anything else
// is ErrNotRef, and the error doesn't repeat it: it may be a key pasted into the wrong place.
func ParseRef(text string) (Ref, error) {
	kind, name, _ := strings.Cut(text, ":")
	switch scheme(kind) {
	case schemeEnv:
		if validVariable(name) {
			return Ref{schemeEnv, name}, nil
		}
		return Ref{}, notRef("env: wants the name of an environment variable")
	case schemeFile:
		if filepath.IsAbs(name) && !strings.ContainsRune(name, 0) {
			return Ref{schemeFile, filepath.Clean(name)}, nil
		}
		return Ref{}, notRef("file: wants an absolute path")
	case schemeKeyring:
		if service, item, ok := keyringName(name); ok {
			return Ref{schemeKeyring, service + "/" + item}, nil
		}
		return Ref{}, notRef("keyring: wants name or service/name")
	default:
		return Ref{}, notRef("a secret is named by a reference, never written out")
	}
}

// Env returns the reference to an environment variable.
func Env(name string) Ref { return Ref{schemeEnv, name} }

// String returns the reference as ParseRef reads it, "" for the zero Ref.
func (r Ref) String() string {
	if r.IsZero() {
		return ""
	}
	return string(r.scheme) + ":" + r.name
}

// IsZero reports whether r is the zero Ref.
func (r Ref) IsZero() bool { return r == Ref{} }

// MarshalText is String, for encoders.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is ParseRef, for decoders; empty text is the zero Ref.
func (r *Ref) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = Ref{}
		return nil
	}
	parsed, err := ParseRef(string(text))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// Resolve reads the secret from its place at each call, so that a rotated one is picked up. It takes at most a few
// seconds (a keyring's) and returns a non-empty Value or an *Error.
func (r Ref) Resolve(ctx context.Context) (Value, error) {
	switch r.scheme {
	case schemeEnv:
		return resolveEnv(r.name)
	case schemeFile:
		return readFile(r.name)
	case schemeKeyring:
		return resolveKeyring(ctx, r.name)
	default:
		return Value{}, &Error{Kind: ErrNotFound, Message: "no reference to a secret is set"}
	}
}

func resolveEnv(name string) (Value, error) {
	text := os.Getenv(name)
	if text == "" {
		return Value{}, &Error{Kind: ErrNotFound, Message: "environment variable " + name + " is not set"}
	}
	return New(text), nil
}

func resolveKeyring(ctx context.Context, name string) (Value, error) {
	service, item, _ := keyringName(name)
	ring, err := OpenKeyring(ctx, KeyringConfig{Service: service})
	if err != nil {
		return Value{}, err
	}
	return ring.Get(ctx, item)
}

func notRef(message string) *Error {
	return &Error{
		Kind: ErrNotRef, Message: message,
		Hint: "write env:NAME, file:/path or keyring:service/name; a key in clear in a file is refused",
	}
}

// validVariable allows names that a shell can set: letters, digits and underscores, no digit first.
func validVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// keyringName splits "service/name" at the first slash; without one the service is the default.
func keyringName(text string) (service, item string, ok bool) {
	service, item, found := strings.Cut(text, "/")
	if !found {
		service, item = DefaultService, text
	}
	return service, item, validItem(service) && validItem(item)
}

// validItem allows 1 to 128 printable ASCII characters without space and slash, which every back
// end keeps as they are.
func validItem(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' || c == '/' {
			return false
		}
	}
	return s != "" && len(s) <= 128
}
