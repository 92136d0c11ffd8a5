package main

import (
	"bytes"
	"context"
	"os"
	"strings"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/picture"
	"unitask/internal/save"
)

// largestShown is the largest file that is fetched to be looked at, in bytes.
const largestShown = 16 << 20

// showPictures draws a result's pictures in a terminal that can. One that can't be had is left out: its address is there.
func (t *terminal) showPictures(ctx context.Context, c *client.Client, done api.Task) {
	protocol := picture.Detect(os.Getenv)
	parts, err := save.Parts(done.Output)
	if !t.outTTY || protocol == "" || err != nil {
		return
	}
	for _, p := range parts {
		if p.Artifact == nil || !strings.HasPrefix(p.ContentType, "image/") || p.Artifact.Bytes > largestShown {
			continue
		}
		var raw bytes.Buffer
		if p.Write(ctx, c, &raw) != nil {
			continue
		}
		if img, err := picture.Decode(raw.Bytes()); err == nil {
			_ = protocol.Write(t.out, img, t.width(), t.rows()/2) // the next line would fail too
		}
	}
}
