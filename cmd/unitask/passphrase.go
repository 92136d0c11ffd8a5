package main

import (
	"context"
	"os"
	"unicode/utf8"

	"unitask/internal/hint"
	"unitask/internal/secret"
)

// passphraseVariable holds the passphrase for use without a terminal.
const passphraseVariable = "UNITASK_PASSPHRASE"

// passphrase is that of a folder of encrypted keys: from the environment, else from who sits at the
// terminal. A new one is asked for twice.
func (t *terminal) passphrase(ctx context.Context, dir string) (secret.Value, error) {
	return t.choosePassphrase(ctx, dir, !secret.IsSealed(dir))
}

func (t *terminal) choosePassphrase(ctx context.Context, dir string, isNew bool) (secret.Value, error) {
	text := os.Getenv(passphraseVariable)
	if text == "" && !t.inTTY {
		return secret.Value{}, &secret.Error{
			Kind: secret.ErrPassphrase, Message: "the key is in an encrypted file, and there is no terminal to ask for the passphrase at",
			Hint: passphraseVariable + " holds the passphrase where nobody is asked",
		}
	}
	if text == "" {
		var err error
		if text, err = t.askPassphrase(ctx, dir, isNew); err != nil {
			return secret.Value{}, err
		}
	}
	if isNew && utf8.RuneCountInString(text) < secret.MinPassphrase {
		return secret.Value{}, &hint.UsageError{Message: "a passphrase has 12 characters or more", Hint: "take some words that don't belong together"}
	}
	return secret.New(text), nil
}

func (t *terminal) askPassphrase(ctx context.Context, dir string, isNew bool) (string, error) {
	if !isNew {
		return t.readHidden(ctx, "passphrase of the keys in "+dir+": ")
	}
	first, err := t.readHidden(ctx, "new passphrase for the keys in "+dir+": ")
	if err != nil {
		return "", err
	}
	again, err := t.readHidden(ctx, "the same again: ")
	if err == nil && again != first {
		err = &hint.UsageError{Message: "the two passphrases differ; nothing was kept"}
	}
	return first, err
}
