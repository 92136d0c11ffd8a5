//go:build linux

// Command former keeps and reads items in the login collection as earlier versions did, through 99designs/keyring
// alone: "former set service/name text" and "former get service/name".
package main

import (
	"fmt"
	"os"

	"github.com/99designs/keyring"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "former:", err)
		os.Exit(1)
	}
}

func run(command string, args []string) error {
	keys, err := keyring.Open(keyring.Config{
		AllowedBackends: []keyring.BackendType{keyring.SecretServiceBackend}, ServiceName: "unitask", LibSecretCollectionName: "login",
	})
	if err != nil {
		return err
	}
	if command == "set" {
		return keys.Set(keyring.Item{Key: args[0], Label: args[0], Data: []byte(args[1])})
	}
	item, err := keys.Get(args[0])
	fmt.Printf("%s", item.Data)
	return err
}
