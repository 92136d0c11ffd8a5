package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
}

func (s *Server) readTask(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	got, err := s.Client.Get(ctx, strings.TrimPrefix(uri, taskScheme), client.GetOptions{})
	if f, coded := errors.AsType[*fault.Error](err); coded && f.Code == fault.NotFound {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: s.explain(err, "")}
	}
	text := jsonText(got.Task).Text
	if len(text) > maxInline {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: got.Task.ID + " is too large for an answer; " + toolGet + " answers what fits"}
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/json", Text: text}}}, nil
}
