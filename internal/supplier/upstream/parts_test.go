package upstream_test

import (
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

func TestLocal(t *testing.T) {
	tests := []struct{ base, address, want string }{
		{"https://a.example/api", "https://a.example/api/v1/x%2Fy?q=1", "/v1/x%2Fy?q=1"},
		{"https://a.example/api/", "https://A.example/api/x", "/x"},
		{"https://a.example/api", "/api/x", "/x"},
		{"https://a.example", "/x", "/x"},
		{"https://a.example/api", "/x", ""},
		{"https://a.example/api", "/apix/y", ""},
		{"https://a.example/api", "https://a.example/api", ""},
		{"https://a.example", "x", ""},
		{"https://a.example", "//b.example/x", ""},
		{"https://a.example", "https://a.example//b.example/x", ""},
		{"https://a.example", "http://a.example/x", ""},
		{"https://a.example", "https://a.example:8443/x", ""},
		{"https://a.example", "https://a.example.evil/x", ""},
		{"https://a.example", "https://user@a.example/x", ""},
		{"https://a.example", "https:/x", ""},
		{"https://a.example", "mailto:x@a.example", ""},
		{"https://a.example", "https://a.example/%zz", ""},
	}
	for _, tt := range tests {
		c := newClient(t, upstream.Config{BaseURL: tt.base})
		if got, ok := c.Local(tt.address); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s under %s: got %q, %t, want %q", tt.address, tt.base, got, ok, tt.want)
		}
	}
}

func TestCheckVectors(t *testing.T) {
	lost := outcome{Code: fault.ProviderUnavailable, Sent: supplier.Unknown, Status: 200}
	tests := []struct {
		name       string
		vectors    [][]float32
		n          int
		dimensions *int
		want       outcome
	}{
		{"any length", [][]float32{{1, 2}, {3, 4}}, 2, nil, outcome{}},
		{"the length", [][]float32{{1, 2}}, 1, new(2), outcome{}},
		{"another length", [][]float32{{1, 2}}, 1, new(3), lost},
		{"one short", [][]float32{{1}}, 2, nil, lost},
		{"one too many", [][]float32{{1}, {2}}, 1, nil, lost},
		{"ragged", [][]float32{{1}, {1, 2}}, 2, nil, lost},
		{"empty", [][]float32{{}}, 1, nil, lost},
		{"none", nil, 0, nil, lost},
	}
	for _, tt := range tests {
		err := upstream.CheckVectors(200, tt.vectors, tt.n, tt.dimensions)
		if err == nil {
			if tt.want != (outcome{}) {
				t.Errorf("%s: no error", tt.name)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, outcomeOf(err)); diff != "" || supplier.AsError(err).Operator {
			t.Errorf("%s: operator %t, (-want +got):\n%s", tt.name, supplier.AsError(err).Operator, diff)
		}
	}
}

func TestReadMedia(t *testing.T) {
	broken := errors.New("broken at /secret/path")
	for name, open := range map[string]func() (io.ReadCloser, error){
		"no way to open it": nil,
		"can't be opened":   func() (io.ReadCloser, error) { return nil, broken },
		"breaks off":        func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil },
	} {
		if b, err := upstream.ReadMedia(supplier.Media{Open: open}); err == nil || b != nil || errors.Is(err, broken) {
			t.Errorf("%s: got %q, %v", name, b, err)
		}
	}
}

func TestConnect(t *testing.T) {
	base := supplier.Config{BaseURL: "https://a.example"}
	with := func(options map[string]string) supplier.Config {
		c := base
		c.Options = options
		return c
	}
	for _, tt := range []struct {
		config supplier.Config
		want   string
	}{
		{with(map[string]string{"proxy": "http://127.0.0.1:1", "own": "x"}), ""},
		{with(map[string]string{"other": "x"}), `unknown option "other"`},
		{with(map[string]string{"proxy": "ftp://x"}), "proxy must begin with http://, https:// or socks5://"},
		{supplier.Config{}, "base_url is required"},
	} {
		got := ""
		if _, err := upstream.Connect(tt.config, nil, "own"); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.config, got, tt.want)
		}
	}
}
