package main

import (
	"bufio"
	"os"
	"strings"
	"unicode/utf8"

	"unitask/internal/secret"
)

// passphraseVariable holds the passphrase where nobody can be asked.
const passphraseVariable = "UNITASK_PASSPHRASE"

// passphrase is that of a folder of encrypted keys: from the environment, else from who sits at the
// terminal. A new one is asked for twice.
func (t *terminal) passphrase(dir string) (secret.Value, error) {
	isNew := !secret.IsSealed(dir)
	text := os.Getenv(passphraseVariable)
	if text == "" && !t.inTTY {
		return secret.Value{}, &secret.Error{
			Kind: secret.ErrPassphrase, Message: "the key is in an encrypted file, and there is no terminal to ask for the passphrase at",
			Hint: passphraseVariable + " holds the passphrase where nobody is asked",
		}
	}
	if text == "" {
		var err error
		if text, err = t.askPassphrase(dir, isNew); err != nil {
			return secret.Value{}, err
		}
	}
	if isNew && utf8.RuneCountInString(text) < secret.MinPassphrase {
		return secret.Value{}, &usageError{message: "a passphrase has 12 characters or more", hint: "take some words that don't belong together"}
	}
	return secret.New(text), nil
}

func (t *terminal) askPassphrase(dir string, isNew bool) (string, error) {
	if !isNew {
		return t.readHidden("passphrase of the keys in " + dir + ": ")
	}
	first, err := t.readHidden("new passphrase for the keys in " + dir + ": ")
	if err != nil {
		return "", err
	}
	again, err := t.readHidden("the same again: ")
	if err == nil && again != first {
		err = &usageError{message: "the two passphrases differ; nothing was kept"}
	}
	return first, err
}

// agrees asks at the terminal; everything but a yes is a no.
func (t *terminal) agrees(question string) bool {
	if !t.inTTY {
		return false
	}
	t.note("%s [y/N]", question)
	line, _ := bufio.NewReader(t.in).ReadString('\n') // without a line there is no yes
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
