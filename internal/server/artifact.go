package server

import (
	"mime"
	"net/http"
	"strings"

	"unitask/internal/fault"
)

// extensions are the file names' ends for the content types that the store keeps; mime's own choice
// would depend on the machine.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif",
	"video/mp4": ".mp4", "video/webm": ".webm", "audio/wav": ".wav", "audio/mpeg": ".mp3",
	"audio/ogg": ".ogg", "audio/flac": ".flac", "audio/aac": ".aac", "audio/mp4": ".m4a",
}

// handleArtifact serves an artifact's bytes to whoever holds its signed URL. A wrong or expired
// signature is answered like an artifact that isn't there.
func (s *Server) handleArtifact(x *exchange) error {
	id, now := x.r.PathValue("artifact_id"), s.now()
	if err := s.signer.Verify(id, x.r.URL.Query(), now); err != nil {
		return err
	}
	meta, file, err := s.artifacts.Open(x.r.Context(), id)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if meta.Expired(now) {
		return fault.New(fault.NotFound, "there is no such artifact")
	}
	h := x.Header()
	h.Set("Content-Type", meta.ContentType)
	h.Set("ETag", `"`+meta.SHA256+`"`)
	h.Set("Cache-Control", "private, max-age=300") // then the ETag and the signature are looked at again
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": fileName(id, meta.ContentType)}))
	http.ServeContent(&rangeErrors{exchange: x, server: s}, x.r, id, meta.CreatedAt, file)
	return nil
}

func fileName(id, contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return id + extensions[kind]
}

// rangeErrors turns ServeContent's plain-text 416 and 500 into the one error shape.
type rangeErrors struct {
	*exchange
	server  *Server
	replied bool
}

// WriteHeader passes good statuses on and answers the others itself.
func (r *rangeErrors) WriteHeader(status int) {
	if status < http.StatusBadRequest {
		r.exchange.WriteHeader(status)
		return
	}
	r.replied = true
	for _, name := range []string{"Content-Disposition", "Content-Security-Policy", "ETag", "Last-Modified"} {
		r.Header().Del(name)
	}
	if status != http.StatusRequestedRangeNotSatisfiable {
		r.server.fail(r.exchange, fault.New(fault.Internal, "the artifact can't be read now; the same request may be sent again"))
		return
	}
	r.server.failWith(r.exchange, status, fault.Invalid("Range", "lies outside the artifact"))
}

// Write drops the text that ServeContent adds to an error.
func (r *rangeErrors) Write(b []byte) (int, error) {
	if r.replied {
		return len(b), nil
	}
	return r.exchange.Write(b)
}
