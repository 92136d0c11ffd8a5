package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
)

// Request is one request to the API.
type Request struct {
	Method, Path string
	Key          string            // the API key
	Body         string            // JSON, "" without
	Header       map[string]string // beside those that every such request has
	Client       *http.Client      // nil: the default one
	Tee          io.Writer         // gets the answer's body as it comes, too; nil: not needed
}

// Reply is a whole answer.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Send makes the request once and reads the whole answer. It may be called by several goroutines.
func (s *Server) Send(ctx context.Context, r Request) (Reply, error) {
	var body io.Reader
	if r.Body != "" {
		body = strings.NewReader(r.Body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, s.Base+r.Path, body)
	if err != nil {
		return Reply{}, err
	}
	request.GetBody = nil // the transport must not repeat it uncounted
	request.Header.Set("Authorization", "Bearer "+r.Key)
	if r.Body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	return send(cmp.Or(r.Client, http.DefaultClient), request, r.Tee)
}

func send(c *http.Client, request *http.Request, tee io.Writer) (Reply, error) {
	response, err := c.Do(request)
	if err != nil {
		return Reply{}, err
	}
	var body io.Reader = response.Body
	if tee != nil {
		body = io.TeeReader(body, tee)
	}
	raw, err := io.ReadAll(body)
	return Reply{response.StatusCode, response.Header, raw}, errors.Join(err, response.Body.Close())
}

// Ready reports whether the server says that it is.
func (s *Server) Ready() bool {
	got, err := s.Send(s.T.Context(), Request{Method: http.MethodGet, Path: api.PathReady})
	return err == nil && got.Status == http.StatusOK
}

// NewKey makes a key without limits but the server's.
func (s *Server) NewKey(ctx context.Context, mode task.Mode) (string, error) {
	admin, err := client.NewAdmin(s.Data())
	if err != nil {
		return "", err
	}
	key, err := admin.CreateKey(ctx, api.KeyCreate{Name: string(mode), Mode: mode})
	return key.Secret, err
}

// MustNewKey is NewKey and must succeed.
func (s *Server) MustNewKey(mode task.Mode) string {
	s.T.Helper()
	key, err := s.NewKey(s.T.Context(), mode)
	if err != nil {
		s.T.Fatal(err)
	}
	return key
}

// Operator reads a path on the operator's socket.
func (s *Server) Operator(ctx context.Context, path string) (Reply, error) {
	socket, err := client.AdminSocketPath(s.Data())
	if err != nil {
		return Reply{}, err
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://admin"+path, nil)
	if err != nil {
		return Reply{}, err
	}
	return send(&http.Client{Transport: transport}, request, nil)
}

// AdminTask reads a task as the operator does.
func (s *Server) AdminTask(ctx context.Context, id string) (got api.AdminTask, err error) {
	reply, err := s.Operator(ctx, api.PathAdminTasks+"/"+id)
	if err != nil {
		return got, err
	}
	if reply.Status != http.StatusOK {
		return got, fmt.Errorf("the operator's socket answered %d", reply.Status)
	}
	return got, json.Unmarshal(reply.Body, &got)
}
