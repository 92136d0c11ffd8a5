package gateway

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// StateSecretSize is the length in bytes of Config.StateSecret.
const StateSecretSize = 32

// mostState bounds a state of a chat, in bytes: encrypted it is within the directory's maxLength.
const mostState = 256 << 10

// chatState is what an adapter wants to see again, and of which route: only that one can read it.
type chatState struct {
	Supplier string          `json:"supplier"`
	Model    string          `json:"model"`
	State    json.RawMessage `json:"state"`
}

// stateCipher returns the cipher of an account's states in one mode: another account's don't open.
func (g *Gateway) stateCipher(scope task.Scope) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, g.stateSecret, nil, "chat state\n"+scope.Account+"\n"+string(scope.Mode), StateSecretSize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sealState encrypts a state for its caller to send back; "" for none, or one that is too large: no conversation needs
// its state.
func (w *work) sealState(route *routing.Route, state json.RawMessage) (string, error) {
	if len(state) == 0 || len(state) > mostState || w.g.stateSecret == nil {
		return "", nil
	}
	plain, err := json.Marshal(chatState{route.Supplier, route.Model, state})
	if err != nil {
		return "", fmt.Errorf("%w: its state isn't JSON", errUnfit)
	}
	sealer, err := w.g.stateCipher(w.t.Scope)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(sealer.Seal(nil, nil, plain, nil)), nil
}

// statesFor returns the states in the messages of a chat that this route gave, by message. Those of other routes, and
// those that don't open, are left out.
func (w *work) statesFor(route routing.Route, r supplier.Request) map[int]json.RawMessage {
	if r.Capability != string(catalog.TextChat) || w.g.stateSecret == nil || !jsonread.Contains(r.Input, `"state":"`, r.Base64) {
		return nil
	}
	sealer, err := w.g.stateCipher(w.t.Scope)
	if err != nil {
		return nil
	}
	states := map[int]json.RawMessage{}
	in := jsonread.Sound(r.Input).Passing(r.Base64)
	for m := in.Among("messages"); m.Next(); {
		in.Open('[')
		for i := 0; in.More(']'); i++ {
			for member := in.Among("state"); member.Next(); {
				_, sealed := in.Text()
				if opened := openState(sealer, sealed); opened.Supplier == route.Supplier && opened.Model == route.Model {
					states[i] = opened.State
				}
			}
		}
	}
	return states
}

// openState decrypts a state; the zero chatState if it isn't this account's.
func openState(sealer cipher.AEAD, sealed []byte) (opened chatState) {
	raw, err := base64.RawURLEncoding.DecodeString(string(sealed))
	if err != nil {
		return chatState{}
	}
	plain, err := sealer.Open(nil, nil, raw, nil)
	if err != nil || json.Unmarshal(plain, &opened) != nil {
		return chatState{}
	}
	return opened
}
