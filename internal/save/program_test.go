package save

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProgramOf(t *testing.T) {
	tests := []struct {
		name, system string
		env          map[string]string
		missing      bool
		want         *Program
	}{
		{"macOS", "darwin", nil, false, &Program{Name: "open"}},
		{"Windows", "windows", nil, false, &Program{Name: "rundll32", args: []string{"url.dll,FileProtocolHandler"}}},
		{"X11", "linux", map[string]string{"DISPLAY": ":0"}, false, &Program{Name: "xdg-open"}},
		{"Wayland", "freebsd", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, false, &Program{Name: "xdg-open"}},
		{"WSL", "linux", map[string]string{"WSL_DISTRO_NAME": "Debian", "DISPLAY": ":0"}, false, &Program{Name: "wslview"}},
		{"no desktop", "linux", nil, false, nil},
		{"a desktop without the program", "linux", map[string]string{"DISPLAY": ":0"}, true, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			look := func(name string) (string, error) {
				if tt.missing {
					return "", errors.New("no such program")
				}
				return "/usr/bin/" + name, nil
			}
			got := programOf(tt.system, func(name string) string { return tt.env[name] }, look)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(Program{})); diff != "" {
				t.Errorf("opener (-want +got):\n%s", diff)
			}
		})
	}
}
