package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	library "unitask/client"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/secret"
)

const (
	adminAddress = "admin.addr" // in the data folder: names the socket if its own path would be too long
	adminHost    = "http://admin"
	dialTimeout  = 10 * time.Second // a socket that nobody accepts from shouldn't look like a slow server
)

// AdminSocketPath returns the path of the operator's socket of the server on a data folder: the one that the folder's
// admin.addr names, else its admin.sock. It doesn't say whether anybody listens there.
func AdminSocketPath(dataDir string) (string, error) {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return "", err
	}
	raw, err := os.ReadFile(filepath.Join(dataDir, adminAddress))
	switch {
	case err == nil && strings.TrimSpace(string(raw)) != "":
		return strings.TrimSpace(string(raw)), nil
	case err != nil && !os.IsNotExist(err):
		return "", err
	}
	return filepath.Join(dataDir, api.AdminSocket), nil
}

// Admin is the operator's side of a running server: whoever may open its socket, or has an operator key. It is safe for
// concurrent use.
type Admin struct {
	library *library.Client
	where   string // in errors
}

// NewAdmin returns a client for the server on a data folder. It connects at the first call.
func NewAdmin(dataDir string) (*Admin, error) {
	socket, err := AdminSocketPath(dataDir)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "unix", socket)
	}
	over := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	return newAdmin(adminHost, socket, secret.Value{}, library.WithHTTPClient(over))
}

// NewRemoteAdmin returns a client for the server at a base URL by an operator key. A base URL at which strangers could
// read the key on its way is refused: http, unless it leads to this machine.
func NewRemoteAdmin(baseURL string, key secret.Value) (*Admin, error) {
	base, err := ParseBaseURL(baseURL)
	if err != nil {
		return nil, err
	}
	if base.Scheme != "https" && !loopback(base.Hostname()) {
		return nil, fault.Newf(fault.InvalidRequest, "an operator key isn't sent to %s: without TLS others can read it on its way", base)
	}
	return newAdmin(base.String(), base.String(), key)
}

// newAdmin returns an operator's client that sends a key if there is one.
func newAdmin(baseURL, where string, key secret.Value, options ...library.Option) (*Admin, error) {
	revealed := func(context.Context, string) (string, error) { return key.Reveal(), nil }
	c, err := library.New(baseURL, "", append(options, library.WithKeyFunc(revealed))...)
	return &Admin{library: c, where: where}, translated(err)
}

// loopback reports whether a host is this machine by its name or address.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// CreateKey makes a key. The answer is the only one that holds its secret.
func (a *Admin) CreateKey(ctx context.Context, req api.KeyCreate) (api.Key, error) {
	return adminCall[api.Key](ctx, a, library.Call{Method: http.MethodPost, Path: api.PathAdminKeys, Body: req})
}

// ListKeys returns every key, oldest first.
func (a *Admin) ListKeys(ctx context.Context) ([]api.Key, error) {
	list, err := adminCall[api.KeyList](ctx, a, library.Call{Path: api.PathAdminKeys})
	return list.Data, err
}

// RevokeKey closes a key at once; revoking again is a no-op.
func (a *Admin) RevokeKey(ctx context.Context, id string) (api.Key, error) {
	return adminCall[api.Key](ctx, a, library.Call{Method: http.MethodPost, Path: keyPath(id) + "/revoke"})
}

// SessionKey makes a short-lived test key for this machine's client.
func (a *Admin) SessionKey(ctx context.Context) (api.Key, error) {
	return adminCall[api.Key](ctx, a, library.Call{Method: http.MethodPost, Path: api.PathAdminSession})
}

// Info describes the running server.
func (a *Admin) Info(ctx context.Context) (api.Info, error) {
	return adminCall[api.Info](ctx, a, library.Call{Path: api.PathAdminInfo})
}

// Reload has the server read its settings again.
func (a *Admin) Reload(ctx context.Context) (api.Reload, error) {
	return adminCall[api.Reload](ctx, a, library.Call{Method: http.MethodPost, Path: api.PathAdminReload})
}

// Backup writes an archive of the data folder, a tar, to w as the server makes it. Bytes written before an error must
// not be used.
func (a *Admin) Backup(ctx context.Context, w io.Writer) error {
	return a.pour(ctx, library.Call{Method: http.MethodPost, Path: api.PathAdminBackup}, w)
}

// Arrivals writes when the live tasks came, one JSON object a line, to w. Bytes written before an error must not be
// used.
func (a *Admin) Arrivals(ctx context.Context, w io.Writer) error {
	return a.pour(ctx, library.Call{Path: api.PathAdminArrivals}, w)
}

// pour copies an answer's body to w as it comes.
func (a *Admin) pour(ctx context.Context, c library.Call, w io.Writer) error {
	_, err := a.library.Do(ctx, c, w)
	return a.named(translated(err))
}

func adminCall[T any](ctx context.Context, a *Admin, r library.Call) (T, error) {
	out, _, err := do[T](ctx, a.library, r)
	return out, a.named(err)
}

// named has an error of the connection name the socket, once.
func (a *Admin) named(err error) error {
	if e, ok := errors.AsType[*UnreachableError](err); ok {
		e.Where = a.where
		if network, ok := errors.AsType[*net.OpError](e.Err); ok && network.Net == "unix" {
			e.Err = network.Err
		}
	}
	return err
}
