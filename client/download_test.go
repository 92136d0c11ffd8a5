package client_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/client/clienttest"

	"github.com/google/go-cmp/cmp"

	"unitask/client"
	"unitask/internal/fault"
)

var content = bytes.Repeat([]byte("0123456789abcdef"), 1<<14) // 256 KiB

func artifactAt(url string) client.Artifact {
	sum := sha256.Sum256(content)
	return client.Artifact{ID: "art_1", URL: url, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
}

func TestDownload(t *testing.T) {
	whole := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
	cut := func(n int) http.HandlerFunc { // n bytes, then the connection breaks
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write(content[:n])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	tests := []struct {
		name    string
		answers []http.HandlerFunc // the last one repeats
		want    fault.Code         // "" for success
		ranges  []string
	}{
		{"in one piece", []http.HandlerFunc{whole}, "", []string{""}},
		{"resumed twice", []http.HandlerFunc{cut(1000), cut(0), whole}, "", []string{"", "bytes=1000-", "bytes=1000-"}},
		{
			"a server without ranges",
			[]http.HandlerFunc{cut(1000), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }},
			"",
			[]string{"", "bytes=1000-"},
		},
		{
			"other bytes",
			[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.ToUpper(content)) }},
			fault.Internal,
			[]string{""},
		},
		{
			"too many bytes",
			[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(append(content, '!')) }},
			fault.Internal,
			[]string{""},
		},
		{
			"a signature that has expired",
			[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
				clienttest.WriteFault(w, fault.New(fault.NotFound, "no such artifact"))
			}},
			fault.NotFound,
			[]string{""},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ranges []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := tt.answers[min(len(ranges), len(tt.answers)-1)]
				ranges = append(ranges, r.Header.Get("Range"))
				answer(w, r)
			}))
			defer server.Close()
			var got bytes.Buffer
			c := at(t, server.URL)
			err := c.Download(t.Context(), artifactAt(server.URL+"/artifacts/art_1?signature=s3cret"), &got)
			if codeOf(err) != tt.want {
				t.Errorf("error %v, want code %q", err, tt.want)
			}
			if err == nil && !bytes.Equal(got.Bytes(), content) {
				t.Errorf("%d bytes arrived, not those that were sent", got.Len())
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Error("the error holds the signature")
			}
			if diff := cmp.Diff(tt.ranges, ranges); diff != "" {
				t.Errorf("ranges asked for (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDownloadSendsNoKey follows an artifact to another host: both hosts must not see the key.
func TestDownloadSendsNoKey(t *testing.T) {
	var leaked atomic.Bool
	watch := func(h http.HandlerFunc) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(fmt.Sprint(r.Header), testKey) {
				leaked.Store(true)
			}
			h(w, r)
		}))
		t.Cleanup(s.Close)
		return s
	}
	bucket := watch(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	own := watch(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, bucket.URL, http.StatusFound) })
	c := at(t, own.URL)
	for _, url := range []string{bucket.URL, own.URL, "/artifacts/art_1"} {
		if err := c.Download(t.Context(), artifactAt(url), io.Discard); err != nil {
			t.Errorf("artifact at %s: %v", url, err)
		}
	}
	if leaked.Load() {
		t.Error("the key was sent with an artifact's URL")
	}
}

func TestDownloadGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		c := over(t, clienttest.RoundTripper(func(*http.Request) (*http.Response, error) {
			requests++
			return nil, clienttest.ErrReset
		}))
		err := c.Download(t.Context(), artifactAt("http://bucket.test/x?signature=s3cret"), io.Discard)
		if _, ok := errors.AsType[*client.UnreachableError](err); !ok || requests != 5 {
			t.Errorf("ended with %v after %d requests, want an *UnreachableError after 5", err, requests)
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Error("the error holds the signature")
		}
	})
}

func TestDownloadLeavesAWritersErrorAlone(t *testing.T) {
	c := overHandler(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	full := errors.New("disk full")
	r, w := io.Pipe()
	_ = r.CloseWithError(full)
	if err := c.Download(t.Context(), artifactAt("http://service.test/a"), w); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}
