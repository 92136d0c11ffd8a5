package node

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"unitask/internal/api"
	"unitask/internal/disk"
)

// longestSocket is the length of a Unix socket's path that every system accepts, in bytes.
const longestSocket = 100

// adminAddressFile names the socket if the data folder's own path is too long for one.
const adminAddressFile = "admin.addr"

// adminSocket is the operator's listener. Its file's mode is the lock.
type adminSocket struct {
	listener net.Listener
	leftover []string // to remove at the end
}

// openAdminSocket listens in the data folder. The database's lock is held, so a socket that is there
// already is one that a crash left.
func openAdminSocket(ctx context.Context, dataDir string) (*adminSocket, error) {
	address := filepath.Join(dataDir, adminAddressFile)
	path := filepath.Join(dataDir, api.AdminSocket)
	for _, stale := range []string{address, path} {
		if err := os.Remove(stale); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	s := &adminSocket{}
	if len(path) > longestSocket {
		dir, err := os.MkdirTemp("", "unitask-") // made with mode 0700
		if err != nil {
			return nil, err
		}
		path = filepath.Join(dir, api.AdminSocket)
		s.leftover = []string{address, dir}
		if err := disk.WriteNew(address, []byte(path+"\n")); err != nil {
			return nil, errors.Join(err, s.remove())
		}
	}
	var config net.ListenConfig
	var err error
	if s.listener, err = config.Listen(ctx, "unix", path); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, s.listener.Close(), s.remove())
	}
	return s, nil
}

// remove removes the files beside the listener's socket, which the listener removes when it closes.
func (s *adminSocket) remove() error {
	var err error
	for _, path := range s.leftover {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}
