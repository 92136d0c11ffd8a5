package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
)

// maxInline is how many bytes of files and numbers an answer carries: in base64 and with the rest they stay below the
// megabyte that clients take. A larger file is a link.
const maxInline = 640 << 10

// shownImages are the types that every client's model looks at.
var shownImages = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// file describes an artifact of an answer to the model.
type file struct {
	ID          string        `json:"artifact"`
	ContentType string        `json:"content_type"`
	Bytes       int64         `json:"bytes"`
	Width       *int          `json:"width,omitempty"`
	Height      *int          `json:"height,omitempty"`
	Duration    *float64      `json:"duration_seconds,omitempty"`
	Path        string        `json:"path,omitempty"`
	URL         string        `json:"url"`
	ExpiresAt   api.Timestamp `json:"expires_at"`
}

// result answers a task that succeeded: text as it is, small pictures and sounds as such, the rest as links to the
// service's signed addresses, with each file's path.
func (s *Server) result(ctx context.Context, done api.Task) *sdk.CallToolResult {
	r := &sdk.CallToolResult{Meta: metaOf(done)}
	out := done.Output
	if out == nil {
		return answered(done, done.ID+" succeeded")
	}
	if data := out.Shown(); data != nil {
		r.Content = append(append(r.Content, bounded(done.ID, "the result's members", jsonText(data))), s.files(ctx, done)...)
		return r
	}
	if out.Text != nil {
		r.Content = append(r.Content, &sdk.TextContent{Text: *out.Text})
	}
	if out.Citations != nil {
		r.Content = append(r.Content, jsonText(out.Citations))
	}
	if out.Segments != nil {
		r.Content = append(r.Content, jsonText(out.Segments))
	}
	if out.Words != nil {
		r.Content = append(r.Content, jsonText(out.Words))
	}
	if out.Embeddings != nil {
		r.Content = append(r.Content, vectors(done.ID, out.Embeddings))
	}
	r.Content = append(r.Content, s.files(ctx, done)...)
	return r
}

func (s *Server) files(ctx context.Context, done api.Task) []sdk.Content {
	all := done.Output.Artifacts()
	var paths []string
	var content []sdk.Content
	if s.Save != nil && len(all) > 0 {
		var err error
		if paths, err = s.Save(ctx, done); err != nil {
			content = append(content, &sdk.TextContent{Text: "the files couldn't be saved here: " + s.explain(err, "")})
		}
	}
	room := int64(maxInline)
	for i, a := range all {
		f := file{
			ID: a.ID, ContentType: a.ContentType, Bytes: a.Bytes, Width: a.Width, Height: a.Height, Duration: a.Duration,
			URL: a.URL, ExpiresAt: a.ExpiresAt,
		}
		if i < len(paths) {
			f.Path = paths[i]
		}
		if shown := s.inline(ctx, a, room); shown != nil {
			room -= a.Bytes
			content = append(content, shown)
		} else {
			content = append(content, &sdk.ResourceLink{URI: a.URL, Name: a.ID, MIMEType: a.ContentType, Size: &a.Bytes})
		}
		content = append(content, jsonText(f))
	}
	return content
}

// inline fetches a file that clients show, nil if it is too large, of another kind or unavailable.
func (s *Server) inline(ctx context.Context, a api.Artifact, room int64) sdk.Content {
	base, _, _ := strings.Cut(a.ContentType, ";")
	isImage, isAudio := slices.Contains(shownImages, base), strings.HasPrefix(base, "audio/")
	if a.Bytes > room || !isImage && !isAudio || s.Room != nil && !s.Room(a.Bytes) {
		return nil
	}
	var b bytes.Buffer
	if err := s.Client.Download(ctx, a, &b); err != nil {
		s.Note("%s can't be fetched: %v", a.ID, err)
		return nil
	}
	if isImage {
		return &sdk.ImageContent{Data: b.Bytes(), MIMEType: base}
	}
	return &sdk.AudioContent{Data: b.Bytes(), MIMEType: base}
}

func vectors(id string, all [][]float32) sdk.Content {
	return bounded(id, fmt.Sprintf("%d vectors of %d numbers", len(all), len(all[0])), jsonText(all))
}

// bounded returns a text, or, in the place of one that is too long, the command that saves it.
func bounded(id, what string, text *sdk.TextContent) *sdk.TextContent {
	if len(text.Text) <= maxInline {
		return text
	}
	return &sdk.TextContent{Text: fmt.Sprintf("%s: too large for an answer; unitask tasks get %s -o FILE saves them", what, id)}
}

func answered(now api.Task, text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Meta: metaOf(now), Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func stateOf(now api.Task) string {
	if now.Progress == nil || now.State.Terminal() {
		return string(now.State)
	}
	return fmt.Sprintf("%s, %d %%", now.State, int(*now.Progress*100))
}

// metaOf is the part of an answer for programs.
func metaOf(now api.Task) sdk.Meta {
	m := sdk.Meta{"unitask/task_id": now.ID, "unitask/state": now.State}
	if now.Usage != nil {
		m["unitask/cost_usd"] = now.Usage.Cost.Amount
	}
	return m
}

func jsonText(v any) *sdk.TextContent {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a model reads addresses better whole
	if err := e.Encode(v); err != nil {
		return &sdk.TextContent{Text: "null"} // never: all of it was JSON before
	}
	return &sdk.TextContent{Text: strings.TrimSuffix(b.String(), "\n")}
}
