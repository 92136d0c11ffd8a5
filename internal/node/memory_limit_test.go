package node

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestGroupLimit(t *testing.T) {
	for _, tt := range []struct {
		name   string
		files  map[string]string
		groups string
		want   int64
	}{
		{"the group's own", map[string]string{"a/b/memory.max": "1000\n", "a/memory.max": "2000\n"}, "0::/a/b\n", 1000},
		{"a group around it", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "2000\n"}, "0::/a/b\n", 2000},
		{"a container that sees its own as the root", map[string]string{"memory.max": "3000\n"}, "0::/../x\n", 3000},
		{"none", map[string]string{"a/memory.max": "max\n"}, "0::/a\n", math.MaxInt64},
		{"the first version", map[string]string{"memory/d/memory.limit_in_bytes": "4000\n"}, "5:cpu:/d\n4:memory:/d\n0::/\n", 4000},
		{"no limit in the first version", map[string]string{"memory/d/memory.limit_in_bytes": "9223372036854771712\n"}, "4:memory:/d\n", 9223372036854771712},
		{"another format", nil, "hello\n:\n", math.MaxInt64},
	} {
		root := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := groupLimit(root, tt.groups); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
