package wire

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// parseBase checks a base URL. Its errors don't repeat it: it may hold what was meant to be secret.
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

// parseProxy returns a Transport's Proxy: nil, so that the environment's is ignored, without one.
func parseProxy(raw string) (func(*http.Request) (*url.URL, error), error) {
	if raw == "" {
		return nil, nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("proxy is no URL")
	}
	switch u.Scheme {
	case "http", "https", "socks5":
		return http.ProxyURL(u), nil
	default:
		return nil, errors.New("proxy must begin with http://, https:// or socks5://")
	}
}
