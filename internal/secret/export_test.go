package secret

import "context"

const SizeLimit = sizeLimit

// OpenSealedFast is OpenSealed with a scrypt of few rounds.
func OpenSealedFast(ctx context.Context, dir string, passphrase Value) (*Keyring, error) {
	return openSealed(ctx, dir, passphrase, 4)
}

// badRing is a back end that never answers a read and panics at a write.
type badRing struct{ release <-chan struct{} }

func (b badRing) Get(string) (string, error) { <-b.release; return "", nil }
func (b badRing) Set(string, string) error   { panic("dismissed") }
func (b badRing) Remove(string) error        { return errMissing }

// BadKeyring is a keyring whose reads hang until release is closed and whose writes panic.
func BadKeyring(release <-chan struct{}) *Keyring {
	return &Keyring{service: DefaultService, timeout: callTimeout, limit: sizeLimit, ring: badRing{release}}
}
