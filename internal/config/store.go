package config

import (
	"net/url"

	"unitask/internal/secret"
)

// storeBolt is the store of one node, a file in data_dir.
const storeBolt = "bolt"

// OneNode reports whether the store serves a single node, which has it for itself.
func (c Config) OneNode() bool { return c.Store == storeBolt }

// checkStore keeps a database's password out of the file. An address with one isn't repeated.
func (r *report) checkStore(text string) {
	if _, err := secret.ParseRef(text); err == nil || text == storeBolt {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		r.add("store", "must be bolt or the address of a PostgreSQL database",
			"postgres://user@host/database, or env:NAME of a variable that holds the address")
		return
	}
	_, inUser := u.User.Password()
	if inUser || u.Query().Has("password") || u.Query().Has("sslpassword") {
		r.add("store", "holds a password", "leave it to PGPASSWORD or PGPASSFILE, or write env:NAME of a variable that holds the whole address")
	}
}
