package main

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"time"
)

// answer is what the mock upstream says: about 870 bytes, as a short chat completion has.
var answer = `{"id":"chatcmpl-0","object":"chat.completion","created":1700000000,"model":"mock","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"` + strings.Repeat("All work and no play. ", 28) + `"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":12,"completion_tokens":120,"total_tokens":132}}`

// serve runs one of the servers that unitask is compared with, until it is killed: "upstream" on an
// address, or "proxy" on "address,upstream".
func serve(kind, where string) {
	var err error
	switch kind {
	case "upstream":
		err = listen(where, http.HandlerFunc(mock))
	case "proxy":
		address, target, _ := strings.Cut(where, ",")
		var u *url.URL
		if u, err = url.Parse(target); err == nil {
			proxy := httputil.NewSingleHostReverseProxy(u)
			proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 1024}
			err = listen(address, proxy)
		}
	default:
		err = fmt.Errorf("no server is called %q", kind)
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

func listen(address string, h http.Handler) error {
	return (&http.Server{Addr: address, Handler: h, ReadHeaderTimeout: 5 * time.Second}).ListenAndServe()
}

func mock(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(answer))
}
