package gemini

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

const (
	fileLimit     = 8 << 30 // bytes of a video; the gateway's own limit is below
	mostRedirects = 3
	filesPath     = version + "files/"
)

var (
	errElsewhere = errors.New("the file is at another host")
	errRedirects = errors.New("the file's address redirects too often")
)

// videoFile returns the file at an address that the API gave; ok is false for another text. Files of the API itself
// are opened under the base URL with the key, whatever host the address names; others have to be readable without.
func (a *adapter) videoFile(address string, seconds int) (f supplier.File, ok bool) {
	u, err := url.Parse(address)
	if f, ok = upstream.File(address); err != nil || !ok {
		return f, false
	}
	f.ContentType, f.Duration = "video/mp4", float64(seconds)
	path, own := a.format.Client.Local(address)
	if _, name, found := strings.Cut(u.EscapedPath(), filesPath); !own && found {
		path, own = filesPath+name+query(u), true
	}
	if own {
		f.URL = ""
		f.Open = func(ctx context.Context) (io.ReadCloser, error) { return a.open(ctx, path) }
	}
	return f, true
}

func query(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}

// open begins to read a file of the API's.
func (a *adapter) open(ctx context.Context, path string) (io.ReadCloser, error) {
	for range mostRedirects + 1 {
		s, err := a.format.Client.Open(ctx, upstream.Call{Method: http.MethodGet, Path: path, Limit: fileLimit})
		if err != nil {
			return nil, err
		}
		target := s.Header.Get("Location")
		switch {
		case s.Status == http.StatusOK:
			return file{s}, nil
		case s.Status < 300 || s.Status > 399 || target == "":
			answer, err := s.Answer()
			if err != nil {
				return nil, err
			}
			return nil, a.format.Refusal(answer)
		}
		s.Close()
		own := false
		if path, own = a.format.Client.Local(target); !own {
			return nil, upstream.Failure(supplier.Refused, fault.ProviderUnavailable, errElsewhere)
		}
	}
	return nil, upstream.Failure(supplier.Refused, fault.ProviderUnavailable, errRedirects)
}

// file is a stream as its reader closes it.
type file struct{ *upstream.Stream }

// Close ends the exchange.
func (f file) Close() error {
	f.Stream.Close()
	return nil
}
