package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/fault"
)

const (
	toolUpload = "file_upload"
	argPath    = "path"
)

// UploadFunc sends a file of this machine ahead of the tasks that use it, and calls sent with the bytes that arrived. A
// file that was sent before, or in part, isn't sent again. A path that it doesn't take is INVALID_REQUEST.
type UploadFunc func(ctx context.Context, path string, sent func(sent, all int64)) (api.Upload, error)

const uploadSchema = `{"type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096,` +
	`"description":"The file's absolute path on this machine, or one within the folder that is offered."}},"required":["path"],"additionalProperties":false}`

func (s *Server) addUploadTool() {
	s.protocol.AddTool(&sdk.Tool{
		Name: toolUpload, Title: "Send a file",
		Description: "Send a local file, as large as uploads may be, to the service, and answer the id of its artifact. " +
			"A media argument of another tool takes it as {\"artifact\"}, as often as needed until it expires.",
		InputSchema: json.RawMessage(uploadSchema),
		Annotations: &sdk.ToolAnnotations{Title: "Send a file", DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)},
	}, s.fileUpload)
}

func (s *Server) fileUpload(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	path, err := readPath(req.Params.Arguments)
	if err != nil {
		return s.refusal(err, ""), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.Limit, errLimit)
	defer cancel()
	p := s.startProgress(ctx, req)
	defer p.stop()
	there, size := int64(0), int64(0)
	u, err := s.Upload(ctx, path, func(sent, all int64) {
		there, size = sent, all
		p.sent(ctx, sent, all)
	})
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errLimit):
		return broken(nil, fmt.Sprintf(
			"%d of %d bytes were sent in %d s\nhint: call %s again with the same path, which sends the rest", there, size, api.Seconds(s.Limit), toolUpload)), nil
	case err != nil:
		return s.refusal(err, ""), nil
	}
	return &sdk.CallToolResult{Content: []sdk.Content{jsonText(struct {
		Artifact    string        `json:"artifact"`
		ContentType string        `json:"content_type"`
		Bytes       int64         `json:"bytes"`
		ExpiresAt   api.Timestamp `json:"expires_at"`
	}{u.Artifact, u.ContentType, u.Bytes, u.ExpiresAt})}}, nil
}

func readPath(arguments []byte) (path string, err error) {
	given, err := readArguments(arguments, argPath)
	if err != nil {
		return "", err
	}
	if json.Unmarshal(given.get(argPath), &path) != nil || path == "" {
		return "", fault.Invalid(argPath, "is required: a file's path")
	}
	return path, nil
}

// sent tells how much of a file has arrived.
func (p *progress) sent(ctx context.Context, sent, all int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = fmt.Sprintf("%s of %s sent", api.Size(sent), api.Size(all))
	if at := wholeProgress * float64(sent) / float64(max(all, 1)); at >= p.at+1 {
		p.at = at
		p.notifyLocked(ctx)
	}
}
