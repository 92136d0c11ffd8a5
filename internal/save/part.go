package save

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/shown"
)

// Part is one file of a result: fetched from the service, or at hand.
type Part struct {
	ContentType string
	Artifact    *api.Artifact
	Data        []byte
}

// Parts returns the files of a result, empty without one. The first of one that is data is its JSON.
func Parts(out *api.Output) ([]Part, error) {
	if out == nil {
		return nil, nil
	}
	if out.Text != nil && out.Shown() == nil {
		return []Part{{ContentType: "text/plain", Data: []byte(*out.Text)}}, nil
	}
	if out.Embeddings != nil && out.Shown() == nil {
		raw, err := json.Marshal(out.Embeddings)
		return []Part{{ContentType: "application/json", Data: append(raw, '\n')}}, err
	}
	var parts []Part
	if out.Shown() != nil {
		parts = append(parts, Part{ContentType: "application/json", Data: []byte(out.Indented() + "\n")})
	}
	for _, a := range out.Artifacts() {
		parts = append(parts, Part{ContentType: a.ContentType, Artifact: &a})
	}
	return parts, nil
}

// Write writes the part to w.
func (p Part) Write(ctx context.Context, c *client.Client, w io.Writer) error {
	if p.Artifact != nil {
		return c.Download(ctx, *p.Artifact, w)
	}
	_, err := io.Copy(w, bytes.NewReader(p.Data))
	return err
}

// Shape describes the part in a few words.
func (p Part) Shape() string {
	if p.Artifact != nil {
		return Shape(*p.Artifact)
	}
	return p.ContentType + ", " + api.Size(int64(len(p.Data)))
}

// Shape describes a file in a few words.
func Shape(a api.Artifact) string {
	words := []string{shown.Text(a.ContentType)}
	if a.Width != nil && a.Height != nil {
		words = append(words, fmt.Sprintf("%d×%d", *a.Width, *a.Height))
	}
	if a.Duration != nil {
		words = append(words, strconv.FormatFloat(*a.Duration, 'f', -1, 64)+" s")
	}
	return strings.Join(append(words, api.Size(a.Bytes)), ", ")
}
