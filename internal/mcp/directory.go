package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/catalog"
)

// tool is a capability as it is offered.
type tool struct {
	entry  api.Capability
	schema []byte
	check  *catalog.Catalog // nil if its schemas can't be used here: the service checks alone
}

// refreshing reads the directory before tools are listed, and before a call while it is missing.
func (s *Server) refreshing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		calls := method == "tools/call"
		if method != "tools/list" && (!calls || !s.empty()) {
			return next(ctx, method, req)
		}
		only := ""
		if call, ok := req.(*sdk.CallToolRequest); ok && s.once {
			only = call.Params.Name
		}
		switch err := s.refresh(ctx, only); {
		case err == nil || !s.empty():
			return next(ctx, method, req)
		case calls:
			return s.refusal(err, ""), nil
		default:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: s.explain(err, "")}
		}
	}
}

func (s *Server) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tools) == 0
}

// refresh makes the tools those of the directory, or the one that only names: all take the time of a call. A tool whose
// entry is as it was stays untouched, so that clients are told of true changes alone.
func (s *Server) refresh(ctx context.Context, only string) error {
	all, err := s.directory(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	names := toolNames(all)
	for name := range s.tools {
		if !slices.Contains(names, name) {
			delete(s.tools, name)
			s.protocol.RemoveTools(name)
		}
	}
	for i, entry := range all {
		if only != "" && names[i] != only {
			continue
		}
		made, err := s.shelf.tool(entry)
		if err != nil {
			s.Note("%s is left out: %v", entry.Name, err)
			continue
		}
		if known := s.tools[names[i]]; known != nil && known.same(made) {
			continue
		}
		s.tools[names[i]] = made
		s.protocol.AddTool(&sdk.Tool{
			Name: names[i], Title: made.entry.Title, Description: made.describe(), InputSchema: json.RawMessage(made.schema),
			Annotations: &sdk.ToolAnnotations{Title: made.entry.Title, DestructiveHint: new(false), OpenWorldHint: new(true)},
		}, s.capabilityHandler(made))
	}
	return nil
}

func (s *Server) directory(ctx context.Context) ([]api.Capability, error) {
	if s.directoryFunc != nil {
		return s.directoryFunc(), nil
	}
	return s.Client.Capabilities(ctx)
}

func (t *tool) same(other *tool) bool {
	return t.describe() == other.describe() && t.entry.Title == other.entry.Title && t.entry.Name == other.entry.Name &&
		bytes.Equal(t.schema, other.schema)
}

func (t *tool) describe() string {
	return strings.TrimSpace(t.entry.Description) + " Price: " + t.entry.Price.String() + "."
}

// toolNames returns the tools' names in the order of the directory: dots become underscores, which tools everywhere
// may have in their names. If that name is taken they become dashes, which no capability's name has.
func toolNames(all []api.Capability) []string {
	taken := map[string]bool{toolGet: true, toolCancel: true, toolUpload: true}
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = strings.ReplaceAll(string(one.Name), ".", "_")
		if taken[names[i]] {
			names[i] = strings.ReplaceAll(string(one.Name), ".", "-")
		}
		taken[names[i]] = true
	}
	return names
}
