package config

import (
	"errors"
	"net/url"

	"unitask/internal/secret"
)

// storeBolt is the store of one node, a file in data_dir.
const storeBolt = "bolt"

// OneNode reports whether the store serves a single node, which has it for itself.
func (c Config) OneNode() bool { return c.Store == storeBolt }

// checkStore holds the setting to CheckDatabase.
func (r *report) checkStore(text string) {
	if text == storeBolt {
		return
	}
	switch err := CheckDatabase(text); {
	case errors.Is(err, ErrAddress):
		r.add("store", "must be bolt or the address of a PostgreSQL database",
			"postgres://user@host/database, or env:NAME of a variable that holds the address")
	case err != nil:
		r.add("store", "holds a password", "leave it to PGPASSWORD or PGPASSFILE, or write env:NAME of a variable that holds the whole address")
	}
}

// The errors of CheckDatabase.
var (
	ErrAddress  = errors.New("it isn't the address of a PostgreSQL database")
	ErrPassword = errors.New("the address of the database holds a password")
)

// CheckDatabase checks the address of a database or a reference to one. It keeps passwords out of files and command
// lines; an address isn't repeated.
func CheckDatabase(text string) error {
	if _, err := secret.ParseRef(text); err == nil {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return ErrAddress
	}
	_, inUser := u.User.Password()
	if inUser || u.Query().Has("password") || u.Query().Has("sslpassword") {
		return ErrPassword
	}
	return nil
}
