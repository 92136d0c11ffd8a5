package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"unitask/internal/client/clienttest"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/secret"
)

var content = bytes.Repeat([]byte("0123456789abcdef"), 1<<14) // 256 KiB

func uploadKey(context.Context) (secret.Value, error) { return secret.New("svc_test_1"), nil }

// receiver is a service that takes one upload, and cuts its requests off.
type receiver struct {
	t      *testing.T
	base   string
	got    bytes.Buffer
	cuts   []int // of each request for bytes after the first: after so many it is cut off, its answer too; none left: none
	refuse *fault.Error
	ranges []string
	hash   string
	known  int64 // -1: the answer to the announcement is that it is complete
}

func (s *receiver) upload() api.Upload {
	u := api.Upload{
		Artifact: "art_1", State: api.UploadOpen, Bytes: int64(len(content)), SHA256: s.hash, Received: int64(s.got.Len()),
		URL: s.base + "/uploads/art_1?sig=1", ExpiresAt: api.Timestamp{Time: time.Now()},
	}
	if u.Received == u.Bytes || s.known < 0 {
		u.State, u.URL = api.UploadComplete, ""
	}
	return u
}

func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if signed := strings.HasPrefix(r.URL.Path, api.PathUploadBytes); signed == (r.Header.Get("Authorization") != "") {
		s.t.Errorf("%s %s: a key is sent, or missing", r.Method, r.URL.Path)
	}
	switch r.Method {
	case http.MethodPost:
		var a api.UploadCreate
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || a.Bytes != int64(len(content)) || a.ContentType != "image/png" {
			s.t.Errorf("announced: %+v, %v", a, err)
		}
		s.hash = a.SHA256
	case http.MethodPut:
		s.ranges = append(s.ranges, r.Header.Get("Content-Range"))
		if s.refuse != nil {
			_, _ = io.Copy(io.Discard, r.Body)
			clienttest.WriteFault(w, s.refuse)
			return
		}
		if len(s.ranges) > 1 && len(s.cuts) > 0 {
			_, _ = io.CopyN(&s.got, r.Body, int64(s.cuts[0]))
			s.cuts = s.cuts[1:]
			panic(http.ErrAbortHandler)
		}
		_, _ = io.Copy(&s.got, r.Body)
	}
	_ = json.NewEncoder(w).Encode(api.UploadResponse{Upload: s.upload(), RequestID: "req_1"})
}

// TestUpload sends a file that is cut off again and again, or refused.
func TestUpload(t *testing.T) {
	all := len(content)
	part := func(from, to int) string { return fmt.Sprintf("bytes %d-%d/%d", from, to-1, all) }
	const first = 64 << 10
	for _, tt := range []struct {
		name   string
		change func(s *receiver)
		want   fault.Code // "" for success
		ranges []string
	}{
		{"at once", func(*receiver) {}, "", []string{part(0, first), part(first, all)}},
		{
			"resumed twice", func(s *receiver) { s.cuts = []int{1000, 0} }, "",
			[]string{part(0, first), part(first, all), part(first+1000, all), part(first+1000, all)},
		},
		{"an answer that is lost", func(s *receiver) { s.cuts = []int{all - first} }, "", []string{part(0, first), part(first, all)}},
		{"there already", func(s *receiver) { s.known = -1 }, "", nil},
		{"begun by another process", func(s *receiver) { s.got.Write(content[:5000]) }, "", []string{part(5000, all)}},
		{
			"other bytes than its type says",
			func(s *receiver) {
				s.refuse = fault.Invalid("content_type", "doesn't fit").WithAspect(fault.AspectConflict)
			},
			fault.InvalidRequest,
			[]string{part(0, first)},
		},
		{"an expired address", func(s *receiver) { s.refuse = fault.New(fault.NotFound, "no upload") }, fault.NotFound, []string{part(0, first)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &receiver{t: t}
			tt.change(s)
			server := httptest.NewServer(s)
			defer server.Close()
			s.base = server.URL
			c, err := client.New(client.Config{BaseURL: server.URL, Key: uploadKey})
			if err != nil {
				t.Fatal(err)
			}
			last := int64(0)
			u, err := c.Upload(t.Context(), client.File{ReaderAt: bytes.NewReader(content), Bytes: int64(all), ContentType: "image/png"},
				func(sent int64) { last = sent })
			if fault.CodeOf(err) != tt.want || strings.Join(s.ranges, ";") != strings.Join(tt.ranges, ";") {
				t.Fatalf("%v after %q, want %q after %q", err, s.ranges, tt.want, tt.ranges)
			}
			sum := sha256.Sum256(content)
			if err != nil || s.known < 0 {
				return
			}
			if u.State != api.UploadComplete || u.Artifact != "art_1" || s.hash != hex.EncodeToString(sum[:]) || !bytes.Equal(s.got.Bytes(), content) || last != int64(all) {
				t.Errorf("sent %+v, %d bytes told", u, last)
			}
		})
	}
}

// TestUploadNotServed is what a service without uploads answers.
func TestUploadNotServed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		clienttest.WriteFault(w, fault.New(fault.NotFound, "nothing at this path"))
	}))
	defer server.Close()
	c, err := client.New(client.Config{BaseURL: server.URL, Key: uploadKey})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Upload(t.Context(), client.File{ReaderAt: bytes.NewReader(content), Bytes: 1}, nil); !errors.Is(err, client.ErrNoUploads) {
		t.Errorf("%v, want ErrNoUploads", err)
	}
}
