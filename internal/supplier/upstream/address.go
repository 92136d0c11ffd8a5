package upstream

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"unitask/internal/supplier"
)

const (
	maxID   = 128 // above the length of any supplier's ids
	idRunes = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
)

// FitsPath reports whether a job's id is of letters, digits, - and _ alone, as suppliers make them, and so
// may become a part of a path.
func FitsPath(id string) bool {
	other := strings.IndexFunc(id, func(r rune) bool { return !strings.ContainsRune(idRunes, r) })
	return id != "" && len(id) <= maxID && other < 0
}

// parseBase checks a base URL. Its errors don't repeat it: it may hold a secret.
func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return nil, errors.New("base_url is required")
	case err != nil || u.Opaque != "":
		return nil, errors.New("base_url is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("base_url must begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("base_url has no host")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("base_url must have no user, query or fragment")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}, nil
}

// parseProxy returns a Transport's Proxy: nil, so that the environment's is ignored, without one. Its errors
// don't repeat the address.
func parseProxy(raw string, password supplier.KeyFunc) (func(*http.Request) (*url.URL, error), error) {
	if raw == "" {
		return nil, nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("proxy is no URL")
	}
	if _, has := u.User.Password(); has {
		return nil, errors.New("proxy holds a password, which is a setting of its own")
	}
	switch u.Scheme {
	case "http", "https", "socks5":
	default:
		return nil, errors.New("proxy must begin with http://, https:// or socks5://")
	}
	if password == nil {
		return http.ProxyURL(u), nil
	}
	return func(*http.Request) (*url.URL, error) {
		text, err := password()
		if err != nil {
			return nil, errors.New("the proxy's password can't be read")
		}
		with := *u
		with.User = url.UserPassword(u.User.Username(), text)
		return &with, nil
	}, nil
}

// Local returns the path and query, below the base URL, of an address that is the base URL's own: one
// without a host, or with the very same scheme and host. ok is false for any other.
func (c *Client) Local(address string) (path string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" || u.User != nil || (u.Host == "") != (u.Scheme == "") {
		return "", false
	}
	if u.Host != "" && (u.Scheme != c.base.Scheme || !strings.EqualFold(u.Host, c.base.Host)) {
		return "", false
	}
	path, ok = strings.CutPrefix(u.EscapedPath(), c.base.EscapedPath())
	if !ok || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return "", false
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path, true
}
