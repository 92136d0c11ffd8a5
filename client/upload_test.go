package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"unitask/internal/client/clienttest"

	"unitask/client"
	"unitask/internal/fault"
)

// store is the service's side of one upload, as docs/api.md has it. Each PUT meets the next of its faults.
type store struct {
	t        *testing.T
	faults   []storeTrouble
	size     int64
	sum      string
	received []byte
	checked  int      // bytes that came with their hash
	puts     []string // where each began
	opened   int
}

func (s *store) RoundTrip(r *http.Request) (*http.Response, error) {
	if keyed := r.Header.Get("Authorization") != ""; keyed != (r.Method != http.MethodPut) {
		s.t.Errorf("%s %s is sent with a key: %v", r.Method, r.URL, keyed)
	}
	if r.Method == http.MethodPost {
		s.opened++
		var in struct {
			Bytes  int64  `json:"bytes"`
			SHA256 string `json:"sha256"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			s.t.Error(err)
		}
		s.size, s.sum = in.Bytes, in.SHA256
	}
	if r.Method != http.MethodPut {
		return s.state(http.StatusOK), nil
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Content-Range"), "bytes "), "-")
	s.puts = append(s.puts, first)
	if len(s.faults) > 0 {
		trouble := s.faults[0]
		s.faults = s.faults[1:]
		if resp, err := trouble(s, r); resp != nil || err != nil {
			return resp, err
		}
	}
	return s.take(r, -1)
}

// take keeps the bytes of a request, and refuses those that begin elsewhere.
func (s *store) take(r *http.Request, most int64) (*http.Response, error) {
	var at, last, total int64
	ranged := r.Header.Get("Content-Range")
	if _, err := fmt.Sscanf(ranged, "bytes %d-%d/%d", &at, &last, &total); err != nil || last-at+1 != r.ContentLength || total != s.size {
		s.t.Errorf("Content-Range %q of %d bytes", ranged, r.ContentLength)
	}
	if at != int64(len(s.received)) {
		return conflict("Content-Range", len(s.received)), nil
	}
	if most < 0 {
		most = s.size
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, most))
	if says := r.Header.Get("Content-Digest"); says != "" {
		if err != nil || int64(len(raw)) < r.ContentLength {
			return nil, io.ErrUnexpectedEOF
		}
		sum := sha256.Sum256(raw)
		if says != "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":" {
			return conflict("Content-Digest", len(s.received)), nil
		}
		s.checked += len(raw)
	}
	s.received = append(s.received, raw...)
	switch {
	case err != nil || int64(len(raw)) < r.ContentLength:
		return nil, io.ErrUnexpectedEOF
	case int64(len(s.received)) < s.size:
		return s.state(http.StatusOK), nil
	}
	if sum := sha256.Sum256(s.received); hex.EncodeToString(sum[:]) != s.sum {
		s.received = nil
		return conflict("sha256", 0), nil
	}
	return s.state(http.StatusOK), nil
}

func (s *store) state(status int) *http.Response {
	state, target := "open", `"/uploads/art_1?sig=x"`
	if int64(len(s.received)) == s.size {
		state, target = "complete", `""`
	}
	return answered(func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"upload":{"artifact":"art_1","state":%q,"received":%d,"url":%s}}`, state, len(s.received), target)
	})
}

func conflict(field string, received int) *http.Response {
	return answered(func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprintf(w, `{"error":{"code":"INVALID_REQUEST","message":"no","details":[{"field":%q,"message":"no"},{"field":"received","message":"%d"}]}}`, field, received)
	})
}

// storeTrouble answers a PUT in its own way, or does no more than harm.
type storeTrouble func(*store, *http.Request) (*http.Response, error)

// cutAfter takes some bytes before the connection breaks.
func cutAfter(n int64) storeTrouble {
	return func(s *store, r *http.Request) (*http.Response, error) { return s.take(r, n) }
}

// damaged changes a byte on its way.
func damaged(s *store, r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	raw[len(raw)/2] ^= 1
	r.Body = io.NopCloser(bytes.NewReader(raw))
	return nil, err
}

// TestUpload sends a file over connections that break, and resumes each time at the last byte that arrived.
func TestUpload(t *testing.T) {
	whole := strings.Repeat("0123456789", 10_000)
	full := func(*store, *http.Request) (*http.Response, error) {
		return refused(http.StatusServiceUnavailable, `{"error":{"code":"CAPACITY_EXHAUSTED","message":"full","retryable":true}}`)(nil, nil)
	}
	unheard := func(s *store, r *http.Request) (*http.Response, error) {
		resp, err := s.take(r, -1)
		if err == nil {
			err = errors.Join(resp.Body.Close(), io.ErrUnexpectedEOF)
		}
		return nil, err
	}
	forgets := func(s *store, r *http.Request) (*http.Response, error) {
		s.received = s.received[:10]
		return nil, nil
	}
	nothing := func(*store, *http.Request) (*http.Response, error) { return nil, nil }
	begun := func(s *store, r *http.Request) (*http.Response, error) {
		s.received = []byte(whole)[:70_000]
		return nil, nil
	}
	for name, tt := range map[string]struct {
		faults []storeTrouble
		puts   string // where each began
	}{
		"at once":           {nil, "0 65536"},
		"five cuts":         {[]storeTrouble{cutAfter(1), cutAfter(299), cutAfter(0), cutAfter(99_600), cutAfter(99)}, "0 0 299 299 99899 99998"},
		"full for a moment": {[]storeTrouble{full}, "0 0 65536"},
		"an answer lost":    {[]storeTrouble{unheard}, "0 65536"},
		"the last one lost": {[]storeTrouble{cutAfter(65536), unheard}, "0 65536"},
		"bytes lost there":  {[]storeTrouble{cutAfter(0), cutAfter(500), forgets}, "0 0 500 10"},
		"damaged":           {[]storeTrouble{damaged, nothing, damaged, damaged}, "0 0 65536 65536 65536"},
		"begun before":      {[]storeTrouble{begun}, "0 70000"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &store{t: t, faults: tt.faults}
				c, err := client.New("http://service.test", "x", client.WithHTTPClient(&http.Client{Transport: s}))
				if err != nil {
					t.Fatal(err)
				}
				from := strings.NewReader(whole)
				_, _ = from.Seek(7, io.SeekStart)
				last := int64(0)
				got, err := c.Upload(t.Context(), from, "video/mp4", client.WithProgress(func(sent int64) { last = sent }))
				if err != nil || got.Media().Artifact != "art_1" || got.Bytes != 100_000 || string(s.received) != whole || s.opened != 1 {
					t.Errorf("%+v, %v; %d bytes received in %d uploads", got, err, len(s.received), s.opened)
				}
				if last < 99_999 {
					t.Errorf("%d bytes told", last)
				}
				if puts := strings.Join(s.puts, " "); puts != tt.puts {
					t.Errorf("sent %q, want %q", puts, tt.puts)
				}
			})
		})
	}
}

// TestUploadEnds: a file that changes, one that can't be read, a context and a network that stays away end an upload.
func TestUploadEnds(t *testing.T) {
	away := func(*store, *http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	for name, tt := range map[string]struct {
		from   io.ReadSeeker
		faults []storeTrouble
		want   string
		puts   int
	}{
		"changed":    {&changing{text: "abc"}, nil, "unitask: the file to upload can't be read: it has changed since it was hashed", 1},
		"damaged":    {strings.NewReader("abc"), slices.Repeat([]storeTrouble{damaged}, 8), "INVALID_REQUEST: no", 8},
		"shorter":    {&changing{text: "abcd"}, nil, "unitask: the file to upload can't be read: unexpected EOF", 1},
		"unreadable": {&changing{text: "abc", fails: true}, nil, "unitask: the file to upload can't be read: no", 1},
		"away":       {strings.NewReader("abc"), []storeTrouble{away, away, away, away, away, away, away, away}, "no answer from http://service.test: unexpected EOF", 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &store{t: t, faults: tt.faults}
				c, err := client.New("http://service.test", "x", client.WithHTTPClient(&http.Client{Transport: s}))
				if err != nil {
					t.Fatal(err)
				}
				_, err = c.Upload(t.Context(), tt.from, "video/mp4")
				if fmt.Sprint(err) != tt.want || len(s.puts) != tt.puts {
					t.Errorf("%v after %d requests, want %s after %d", err, len(s.puts), tt.want, tt.puts)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &store{t: t, faults: []storeTrouble{func(*store, *http.Request) (*http.Response, error) {
			cancel()
			return nil, context.Canceled
		}}}
		c, err := client.New("http://service.test", "x", client.WithHTTPClient(&http.Client{Transport: s}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.Upload(ctx, bytes.NewReader([]byte("abc")), "video/mp4"); !errors.Is(err, context.Canceled) || len(s.puts) != 1 {
			t.Errorf("%v after %d requests", err, len(s.puts))
		}
	})
}

// changing is a file that is another one, or can't be read, the second time.
type changing struct {
	text  string
	fails bool
	reads int
	r     *strings.Reader
}

func (c *changing) Seek(int64, int) (int64, error) {
	if c.reads++; c.reads > 1 {
		c.text = "xyz"
	}
	c.r = strings.NewReader(c.text)
	return 0, nil
}

func (c *changing) Read(b []byte) (int, error) {
	if c.reads > 1 && c.fails {
		return 0, errors.New("no")
	}
	return c.r.Read(b)
}

// TestUploadThere sends no byte of a file that the service has, and says so if it takes none at all.
func TestUploadThere(t *testing.T) {
	s := &store{t: t, received: []byte("abc")}
	got, err := over(t, s).Upload(t.Context(), strings.NewReader("abc"), "video/mp4")
	if err != nil || got.ID != "art_1" || len(s.puts) != 0 {
		t.Errorf("%+v, %v, after %d requests with bytes", got, err, len(s.puts))
	}
	none := overHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		clienttest.WriteFault(w, fault.New(fault.NotFound, "nothing at this path"))
	})
	if _, err = none.Upload(t.Context(), strings.NewReader("abc"), "video/mp4"); !errors.Is(err, client.ErrNoUploads) || codeOf(err) != fault.NotFound {
		t.Errorf("%v, want ErrNoUploads", err)
	}
}

// TestUploadParts: each part ends at a multiple of 8 MiB and has its hash, also after a part that began elsewhere.
func TestUploadParts(t *testing.T) {
	const whole = 2*(8<<20) + 5
	for name, tt := range map[string]struct {
		begun   int
		puts    string
		checked int
	}{
		"from the first": {0, "0 65536 8388608 16777216", whole},
		"begun before":   {100_000, "100000 8388608 16777216", whole - 8<<20},
	} {
		t.Run(name, func(t *testing.T) {
			from := bytes.Repeat([]byte("x"), whole)
			s := &store{t: t, received: from[:tt.begun:tt.begun]}
			_, err := over(t, s).Upload(t.Context(), bytes.NewReader(from), "video/mp4")
			if puts := strings.Join(s.puts, " "); err != nil || puts != tt.puts || s.checked != tt.checked || !bytes.Equal(s.received, from) {
				t.Errorf("%v, sent %q, want %q, and %d bytes with their hash, want %d", err, puts, tt.puts, s.checked, tt.checked)
			}
		})
	}
}
