package boltstore

import (
	"errors"

	bolt "go.etcd.io/bbolt"
)

// Check compares every page of the file with the tree.
func Check(db *DB) error {
	return db.bolt.View(func(tx *bolt.Tx) error {
		var errs []error
		for err := range tx.Check() {
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}
