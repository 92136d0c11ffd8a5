package node

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unitask/internal/client"
)

// TestAdminSocketInDeepFolder: if the path is too long for a socket, the client still finds it, and no file is left
// behind.
func TestAdminSocketInDeepFolder(t *testing.T) {
	for name, dir := range map[string]string{
		"short": t.TempDir(), "deep": filepath.Join(t.TempDir(), strings.Repeat("very-deep/", 10)),
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second one finds the leftovers of a crash
			if name == "short" {
				_ = os.WriteFile(filepath.Join(dir, "admin.sock"), nil, 0o600)
			}
			s, err := openAdminSocket(t.Context(), dir)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			path, err := client.AdminSocketPath(dir)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", name, info, err)
			}
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", path)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_ = conn.Close()
			if err := s.listener.Close(); err != nil {
				t.Error(err)
			}
			if err := s.remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Dir(path)); name == "deep" && !os.IsNotExist(err) {
				t.Errorf("%s: the folder of the socket is left", name)
			}
		}
	}
}
