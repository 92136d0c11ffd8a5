package harness

import (
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"
)

// CheckDatabase compares every page of a bbolt file that nobody writes to with its tree.
func CheckDatabase(path string) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return err
	}
	err = db.View(func(tx *bolt.Tx) error {
		var found []error
		for err := range tx.Check() {
			found = append(found, err)
		}
		return errors.Join(found...)
	})
	return errors.Join(err, db.Close())
}
