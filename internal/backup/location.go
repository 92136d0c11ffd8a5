package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"unitask/internal/artifact"
	"unitask/internal/disk"
)

// LocationName is the file in a data folder that names the object store in which its artifacts are. Commands that work
// on a data folder don't read the server's settings.
const LocationName = "artifacts.location"

// Location returns the object store in which a data folder's artifacts are, such as s3://bucket/prefix; "" if they are
// in the folder.
func Location(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, LocationName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	place := strings.TrimSpace(string(raw))
	if err == nil {
		err = checkLocation(place)
	}
	return place, err
}

// SetLocation records the object store, "" for none.
func SetLocation(dir, place string) error {
	file := filepath.Join(dir, LocationName)
	if place == "" {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if before, err := Location(dir); err == nil && before == place {
		return nil
	}
	temp, err := os.CreateTemp(dir, "."+LocationName+"-") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone already after success
	_, err = temp.WriteString(place + "\n")
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), file); err != nil {
		return err
	}
	return disk.SyncDir(dir)
}

func checkLocation(place string) error {
	if _, err := artifact.ParseBucket(place); err != nil {
		return fmt.Errorf("the place of the artifacts %w", err)
	}
	return nil
}
