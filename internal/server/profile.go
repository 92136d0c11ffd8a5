package server

import (
	"net/http"
	"net/http/pprof"

	"unitask/internal/fault"
)

// pathProfile is the admin socket's path of Go's own profiles of the process, as net/http/pprof writes them: below it
// "profile?seconds=10" for the CPU, "heap", "goroutine" and the rest.
const pathProfile = "/debug/pprof/"

func handleProfile(x *exchange) error {
	x.Header().Set("Cache-Control", "no-store")
	switch name := x.r.PathValue("profile"); name {
	case "":
		pprof.Index(x, x.r)
	case "profile":
		pprof.Profile(x, x.r)
	case "trace":
		pprof.Trace(x, x.r)
	case "allocs", "block", "goroutine", "heap", "mutex", "threadcreate":
		pprof.Handler(name).ServeHTTP(x, x.r)
	default:
		return fault.New(fault.NotFound, "there is no such profile")
	}
	return nil
}

var profileMethods = methods{http.MethodGet: handleProfile}
