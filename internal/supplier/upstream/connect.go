package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"unitask/internal/supplier"
)

// OptionProxy is the option of every kind with the URL of an HTTP or SOCKS5 proxy; the environment's is
// not used.
const OptionProxy = "proxy"

// Connect returns the client that c describes. authorize puts the key into the headers; nil:
// Authorization: Bearer. Options but the proxy and those named are errors.
func Connect(c supplier.Config, authorize func(h http.Header, key string), options ...string) (*Client, error) {
	for name := range c.Options {
		if name != OptionProxy && !slices.Contains(options, name) {
			return nil, fmt.Errorf("unknown option %q", name)
		}
	}
	return New(Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey, Authorize: authorize, Timeout: c.Timeout, Proxy: c.Options[OptionProxy],
		ProxyPassword: c.ProxyPassword, Standard: c.Standard,
	})
}

// NoMaxTokensField is the error of a setting that only one kind knows, nil if it isn't set.
func NoMaxTokensField(c supplier.Config) error {
	if c.MaxTokensField != "" {
		return errors.New("max_tokens_field is for the kind openai alone")
	}
	return nil
}
