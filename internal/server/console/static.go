package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed static
var static embed.FS

// file is one of the console's own files.
type file struct {
	body []byte
	kind string // content type
	sum  string // of the body
}

type files map[string]file

// kinds are the content types, by extension; no table of the system's is asked.
var kinds = map[string]string{".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

func loadFiles() (files, error) {
	entries, err := static.ReadDir("static")
	if err != nil {
		return nil, err
	}
	out := files{}
	for _, e := range entries {
		body, err := static.ReadFile(path.Join("static", e.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(body)
		kind := mime.FormatMediaType(kinds[path.Ext(e.Name())], map[string]string{"charset": "utf-8"})
		out[e.Name()] = file{body, kind, hex.EncodeToString(sum[:8])}
	}
	return out, nil
}

// handleFile serves a file. Its address in a page carries its sum: under that one it never changes.
func (c *Console) handleFile(w http.ResponseWriter, r *http.Request) {
	f, ok := c.files[r.PathValue("file")]
	if !ok {
		c.refuse(w, r, nil, noPage())
		return
	}
	w.Header().Set("Content-Type", f.kind)
	if strings.TrimPrefix(r.URL.RawQuery, "?") == f.sum {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(f.body)
}
