package server

import (
	"mime"
	"net/http"
	"strconv"
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
	if _, err := queryOf(x.r.URL.RawQuery, "exp", "sig"); err != nil {
		return err
	}
	meta, file, err := s.artifacts.Open(x.r.Context(), id)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if meta.Expired(now) || meta.Upload { // a document that a caller sent isn't for browsers
		return fault.New(fault.NotFound, "there is no such artifact")
	}
	h := x.Header()
	h.Set("Content-Type", meta.ContentType)
	h.Set("ETag", `"`+meta.SHA256+`"`)
	h.Set("Cache-Control", "private, max-age=300") // then the ETag and the signature are looked at again
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": fileName(id, meta.ContentType)}))
	setByteRange(x.r, meta.Bytes)
	http.ServeContent(&contentErrors{exchange: x, server: s}, x.r, id, meta.CreatedAt, file)
	return nil
}

// setByteRange leaves in the request the one range of bytes that is served. Headers that RFC 9110 has ignored are
// removed: a Range of another unit and of another method than GET; and so does a list of ranges, which is answered
// with the whole. A suffix of no bytes can't be satisfied, which ServeContent doesn't know.
func setByteRange(r *http.Request, size int64) {
	unit, ranges, _ := strings.Cut(r.Header.Get("Range"), "=")
	ranges = strings.TrimSpace(ranges)
	switch suffix, isSuffix := strings.CutPrefix(ranges, "-"); {
	case r.Method != http.MethodGet || !strings.EqualFold(unit, "bytes") || strings.Contains(ranges, ","):
		r.Header.Del("Range")
	case isSuffix && suffix != "" && strings.Trim(suffix, "0") == "":
		r.Header.Set("Range", "bytes="+strconv.FormatInt(size, 10)+"-")
	default:
		r.Header.Set("Range", "bytes="+ranges)
	}
}

func fileName(id, contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return id + extensions[kind]
}

// contentErrors turns ServeContent's plain-text 412, 416 and 500 into the one error shape.
type contentErrors struct {
	*exchange
	server  *Server
	replied bool
}

// WriteHeader passes good statuses on and answers the others itself.
func (c *contentErrors) WriteHeader(status int) {
	if status < http.StatusBadRequest {
		c.exchange.WriteHeader(status)
		return
	}
	c.replied = true
	for _, name := range []string{"Content-Disposition", "Content-Security-Policy", "ETag", "Last-Modified"} {
		c.Header().Del(name)
	}
	switch status {
	case http.StatusPreconditionFailed:
		field := "If-Match" // it goes first if both are sent
		if c.r.Header.Get(field) == "" {
			field = "If-Unmodified-Since"
		}
		c.server.failWith(c.exchange, status, fault.Invalid(field, "doesn't hold of the artifact"))
	case http.StatusRequestedRangeNotSatisfiable:
		c.server.failWith(c.exchange, status, fault.Invalid("Range", "lies outside the artifact"))
	default:
		c.server.fail(c.exchange, fault.New(fault.Internal, "the artifact can't be read now; the same request may be sent again"))
	}
}

// Write drops the text that ServeContent adds to an error.
func (c *contentErrors) Write(b []byte) (int, error) {
	if c.replied {
		return len(b), nil
	}
	return c.exchange.Write(b)
}
