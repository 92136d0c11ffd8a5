package artifact_test

import (
	"net/netip"
	"net/url"
	"testing"

	"unitask/internal/artifact"
)

// TestContradicts tells a claim that the bytes disprove from one that is another name, and from an unknown one.
func TestContradicts(t *testing.T) {
	const (
		png  = "\x89PNG\r\n\x1a\n"
		mp3  = "ID3\x04"
		film = "\x00\x00\x00\x18ftypisom\x00\x00\x00\x00"
		ogg  = "OggS\x00"
	)
	for _, tt := range []struct{ claim, head, want string }{
		{"image/png", png, ""},
		{"IMAGE/PNG; q=1", png, ""},
		{"image/jpeg", png, "image/png"},
		{"audio/mp3", mp3, ""},
		{"audio/mpeg", mp3, ""},
		{"audio/wav", mp3, "audio/mpeg"},
		{"audio/x-m4a", film, ""},
		{"audio/mp4", film, ""},
		{"audio/opus", ogg, ""},
		{"audio/flac", ogg, "audio/ogg"},
		{"application/pdf", "%PDF-1.7", ""},
		{"image/png", "%PDF-1.7", "application/pdf"},
		{"application/pdf", png, "image/png"},
		{"audio/x-unheard-of", mp3, ""},
		{"image/png", "<html>", ""},
		{"", png, ""},
	} {
		if got := artifact.Contradicts(tt.claim, []byte(tt.head)); got != tt.want {
			t.Errorf("%s of %q: %q, want %q", tt.claim, tt.head, got, tt.want)
		}
	}
}

// TestRefusesURL refuses at once addresses that could never be fetched, and no address that the operator allowed.
func TestRefusesURL(t *testing.T) {
	strict, open := mustFetcher(t), mustFetcher(t, "10.0.0.0/8", "127.0.0.1", "minio:9000", "[2001:db8::1]", "localhost:81")
	for address, allowed := range map[string]struct{ strict, open bool }{
		"https://example.com/a.png":     {true, true},
		"http://8.8.8.8/":               {true, true},
		"http://8.8.8.8:8443/":          {true, true},
		"http://[2606:4700::1]/":        {true, true},
		"http://example.com:22/":        {true, true}, // a name's address isn't known yet
		"http://minio:9000/":            {true, true},
		"http://8.8.8.8:22/":            {false, false},
		"http://192.168.1.1/":           {false, false},
		"http://10.1.2.3:9000/":         {false, true},
		"http://127.0.0.1:5432/":        {false, true},
		"http://127.0.0.1./":            {false, true},
		"http://localhost/":             {false, true},
		"http://LocalHost:81/":          {false, true},
		"http://a.localhost./":          {false, true},
		"http://[2001:db8::1]/":         {false, true},
		"http://[::1]/":                 {false, false},
		"http://[fe80::1%25eth0]/":      {false, false},
		"http://[::ffff:169.254.1.1]/":  {false, false},
		"http://169.254.169.254/latest": {false, false},
		"http://127.1/":                 {false, false},
		"http://0x7f000001/":            {false, false},
		"http://0177.0.0.01/":           {false, false},
		"http://2130706433/":            {false, false},
		"http://1.2.3.4.5/":             {false, false},
		"http://example.com:99999/":     {false, false},
		"http://example.com:0/":         {false, false},
		"http://user@example.com/":      {false, false},
		"http:///a.png":                 {false, false},
		"ftp://example.com/":            {false, false},
		"file:///etc/passwd":            {false, false},
		"http://exa mple.com/":          {false, false},
	} {
		for name, tt := range map[string]struct {
			f    *artifact.Fetcher
			want bool
		}{"strict": {strict, allowed.strict}, "open": {open, allowed.open}} {
			if problem := tt.f.RefusesURL(address); (problem == "") != tt.want {
				t.Errorf("%s, %s: %q", name, address, problem)
			}
		}
	}
}

func mustFetcher(t testing.TB, allow ...string) *artifact.Fetcher {
	t.Helper()
	f, err := artifact.NewFetcher(artifact.FetcherConfig{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// FuzzRefusesURL: an address of this machine or its network is refused however its URL is written.
func FuzzRefusesURL(f *testing.F) {
	for _, seed := range []string{"http://127.0.0.1/", "https://[::1]:80/", "http://10.0.0.1:8080/a?b", "http://a@b/", "http://0x7f.1/"} {
		f.Add(seed)
	}
	strict := mustFetcher(f)
	f.Fuzz(func(t *testing.T, address string) {
		if strict.RefusesURL(address) != "" {
			return
		}
		u, err := url.Parse(address)
		if err != nil || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
			t.Fatalf("%q is accepted", address)
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !artifact.Public(ip) {
			t.Errorf("%q is accepted", address)
		}
	})
}
