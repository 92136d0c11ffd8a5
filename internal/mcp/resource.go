package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
)

// taskScheme is before a task's id in the name of its resource.
const taskScheme = "unitask://tasks/"

func (s *Server) addResources() {
	s.protocol.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "task", Title: "A task", URITemplate: taskScheme + "{id}", MIMEType: "application/json",
		Description: "A task as the service keeps it: its state, and its result or its error; files are addresses that hold for a while.",
	}, s.readTask)
	s.protocol.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "file", Title: "A file of a task's result", URITemplate: taskScheme + "{id}" + fileScheme + "{artifact}",
		Description: fmt.Sprintf("The bytes of a file of a task's result, if it has at most %d; the task's own resource has the address of a larger one.", maxInline),
	}, s.readFile)
}

// fileScheme is between a task's id and that of a file in its result.
const fileScheme = "/artifacts/"

func (s *Server) readFile(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	id, name, _ := strings.Cut(strings.TrimPrefix(uri, taskScheme), fileScheme)
	t, err := s.resourceTask(ctx, id, uri)
	if err != nil {
		return nil, err
	}
	for _, a := range t.Output.Artifacts() {
		if a.ID != name {
			continue
		}
		if a.Bytes > maxInline || s.Room != nil && !s.Room(a.Bytes) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: a.ID + " is too large for an answer now; its address is in " + taskScheme + id}
		}
		var b bytes.Buffer
		if err := s.Client.Download(ctx, a, &b); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: s.explain(err, "")}
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: a.ContentType, Blob: b.Bytes()}}}, nil
	}
	return nil, sdk.ResourceNotFoundError(uri)
}

func (s *Server) readTask(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	t, err := s.resourceTask(ctx, strings.TrimPrefix(uri, taskScheme), uri)
	if err != nil {
		return nil, err
	}
	text := jsonText(t).Text
	if len(text) > maxInline {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: t.ID + " is too large for an answer; " + toolGet + " answers what fits"}
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/json", Text: text}}}, nil
}

// resourceTask reads the task of a resource.
func (s *Server) resourceTask(ctx context.Context, id, uri string) (api.Task, error) {
	got, err := s.Client.Get(ctx, id, client.GetOptions{})
	if f, coded := errors.AsType[*fault.Error](err); coded && f.Code == fault.NotFound {
		return api.Task{}, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return api.Task{}, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: s.explain(err, "")}
	}
	return got.Task, nil
}
