package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"time"
)

// answer is the mock upstream's answer: about 870 bytes, as a short chat completion has.
var answer = `{"id":"chatcmpl-0","object":"chat.completion","created":1700000000,"model":"mock","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"` + strings.Repeat("All work and no play. ", 28) + `"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":12,"completion_tokens":120,"total_tokens":132}}`

// The servers that this program can be.
const (
	roleUpstream = "upstream" // on an address
	roleProxy    = "proxy"    // on "address,upstream"
)

// slowPath is the path of the mock upstream's slow answers.
const (
	slowPath = "slow"
	slowness = 50 * time.Millisecond
)

// serveRole runs one of the servers if this process was started as it.
func serveRole() {
	if len(os.Args) == 3 && (os.Args[1] == roleUpstream || os.Args[1] == roleProxy) {
		serve(os.Args[1], os.Args[2])
	}
}

// serve runs one of the servers that unitask is compared with, until it is killed.
func serve(role, where string) {
	var err error
	switch role {
	case roleUpstream:
		err = listen(where, http.HandlerFunc(mock))
	case roleProxy:
		address, target, _ := strings.Cut(where, ",")
		var u *url.URL
		if u, err = url.Parse(target); err == nil {
			proxy := httputil.NewSingleHostReverseProxy(u)
			proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 1024}
			err = listen(address, proxy)
		}
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

func listen(address string, h http.Handler) error {
	return (&http.Server{Addr: address, Handler: h, ReadHeaderTimeout: 5 * time.Second}).ListenAndServe()
}

func mock(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/"+slowPath+"/") {
		time.Sleep(slowness)
	}
	_, _ = io.Copy(io.Discard, r.Body) // a connection with an unread body isn't used again
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(answer))
}
