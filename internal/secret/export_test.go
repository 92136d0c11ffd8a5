package secret

import "context"

// OpenSealedFast is OpenSealed with a scrypt of few rounds.
func OpenSealedFast(ctx context.Context, dir string, passphrase Value) (*Keyring, error) {
	return openSealed(ctx, dir, passphrase, 4)
}

// badRing is a back end that never answers a read and panics at a write.
type badRing struct{ release <-chan struct{} }

func (b badRing) get(string) (string, error) { <-b.release; return "late", nil }
func (b badRing) set(string, string) error   { panic("dismissed") }
func (b badRing) remove(string) error        { return errMissing }

// BadKeyring is a keyring whose reads hang until release is closed and whose writes panic.
func BadKeyring(release <-chan struct{}) *Keyring {
	return &Keyring{service: DefaultService, timeout: callTimeout, ring: badRing{release}}
}
