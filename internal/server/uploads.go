package server

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/upload"
)

const (
	mostAnnouncement = 4 << 10 // bytes
	// uploadStall is how long the bytes of an upload may pause: behind it the request ends, and what arrived is kept.
	uploadStall = 30 * time.Second
)

// routeUploads adds the paths of uploads: those with a key, and the signed one.
func (s *Server) routeUploads() {
	s.handleKeyed(api.PathUploads, keyed{gate.Creates, methods{
		http.MethodGet: capable(s.handleUploadList), http.MethodPost: plain(s.handleUploadCreate),
	}})
	s.handleKeyed(api.PathUploads+"/{artifact_id}", keyed{gate.Reads, methods{
		http.MethodGet: capable(plain(s.handleUploadGet)), http.MethodDelete: capable(plain(s.handleUploadDelete)),
	}})
	s.handle(api.PathUploadBytes+"{artifact_id}", methods{
		http.MethodGet: s.signed(s.handleUploadState), http.MethodPut: s.signed(s.handleUploadBytes),
	}.dispatch)
}

func (s *Server) handleUploadCreate(x *exchange) error {
	if err := checkMediaType(x.r.Header); err != nil {
		return err
	}
	b, err := s.readBodyWithin(x, mostAnnouncement)
	if err != nil {
		return err
	}
	defer b.release()
	var announced upload.Announcement
	if err := decodeObject(b.bytes, &announced); err != nil {
		return err
	}
	u, created, err := s.uploads.Begin(x.r.Context(), x.caller.Scope().Owner(), announced)
	if err != nil {
		return err
	}
	x.set("Location", s.base.Path+api.PathUploads+"/"+u.ID)
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return s.respondUpload(x, status, u)
}

func (s *Server) handleUploadGet(x *exchange) error {
	u, err := s.uploads.OfOwner(x.r.Context(), x.caller.Scope().Owner(), x.r.PathValue("artifact_id"))
	if err != nil {
		return err
	}
	return s.respondUpload(x, http.StatusOK, u)
}

func (s *Server) handleUploadDelete(x *exchange) error {
	if err := s.uploads.Delete(x.r.Context(), x.caller.Scope().Owner(), x.r.PathValue("artifact_id")); err != nil {
		return err
	}
	s.respond(x, http.StatusOK, api.Done{RequestID: x.id})
	return nil
}

// signed lets in whoever has the upload's own address; any other is answered like that of an upload that isn't there.
func (s *Server) signed(h handler) handler {
	return func(x *exchange) error {
		if err := s.signer.VerifyUpload(x.r.PathValue("artifact_id"), x.r.URL.Query(), s.now()); err != nil {
			return fault.New(fault.NotFound, "there is no such upload")
		}
		if _, err := queryOf(x.r.URL.RawQuery, "exp", "sig"); err != nil {
			return err
		}
		if err := s.paces.check(x.r.PathValue("artifact_id")); err != nil {
			return err
		}
		return h(x)
	}
}

func (s *Server) handleUploadState(x *exchange) error {
	s.paces.count(x.r.PathValue("artifact_id"))
	u, err := s.uploads.Get(x.r.Context(), x.r.PathValue("artifact_id"))
	if err != nil {
		return err
	}
	return s.respondUpload(x, http.StatusOK, u)
}

func (s *Server) handleUploadBytes(x *exchange) error {
	id := x.r.PathValue("artifact_id")
	var before, now upload.Upload
	defer func() {
		if now.Received <= before.Received {
			s.paces.count(id)
		}
	}()
	u, err := s.uploads.Near(x.r.Context(), id, expectedOf(x.r))
	if err != nil {
		return err
	}
	before = u
	part, err := partOf(x.r, u.Bytes)
	if err != nil {
		return err
	}
	account, _, _ := strings.Cut(u.Owner, "/")
	if !s.inProgress.Try(account, 1) {
		return fault.New(fault.RateLimitExceeded, "too many requests of this account are under way").WithRetryAfter(readyAgain)
	}
	defer s.inProgress.Give(account, 1)
	from := &patientBody{x: x}
	part.Body = from
	now, err = s.uploads.Take(x.r.Context(), u, part)
	if from.ended {
		x.unread = false
		_ = x.control().SetReadDeadline(time.Time{})
	}
	if err != nil {
		return err
	}
	return s.respondUpload(x, http.StatusOK, now)
}

// patientBody gives each read of a request's body its own time, so that the whole may take as long as it likes.
type patientBody struct {
	x     *exchange
	ended bool // it was read to its end
}

// Read implements io.Reader.
func (b *patientBody) Read(p []byte) (int, error) {
	_ = b.x.control().SetReadDeadline(time.Now().Add(uploadStall))
	n, err := b.x.r.Body.Read(p)
	b.ended = err == io.EOF
	return n, err
}

var contentRange = regexp.MustCompile(`^bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})$`)

// expectedOf is how many bytes have arrived as far as the sender of a request knows.
func expectedOf(r *http.Request) int64 {
	parts := contentRange.FindStringSubmatch(r.Header.Get("Content-Range"))
	if parts == nil {
		return 0
	}
	return decimal(parts[1])
}

// decimal is the number of digits that fit, by contentRange.
func decimal(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// partOf returns the part of a file of so many bytes that a request brings, without its body.
func partOf(r *http.Request, total int64) (upload.Part, error) {
	for _, encoding := range r.Header["Content-Encoding"] {
		return upload.Part{}, fault.Invalid("Content-Encoding", "must be absent, not "+strconv.QuoteToASCII(encoding)+": bytes are taken as they are").
			WithAspect(fault.AspectMediaType)
	}
	at, err := rangeOf(r, total)
	if err != nil {
		return upload.Part{}, err
	}
	sum, err := digestOf(r.Header["Content-Digest"])
	if end := upload.PieceEnd(at); err == nil && sum != "" && at+r.ContentLength > end {
		err = fault.Invalid("Content-Digest", "must be of a part that ends at "+strconv.FormatInt(end, 10)+" or before, which is the next multiple of 8 MiB")
	}
	return upload.Part{At: at, SHA256: sum}, err
}

// rangeOf returns the offset of a request's body in a file of so many bytes, all of which it is without a Content-Range.
func rangeOf(r *http.Request, total int64) (at int64, _ error) {
	length := r.ContentLength
	if length < 0 {
		return 0, fault.Invalid("Content-Length", "is required")
	}
	says := r.Header["Content-Range"]
	if len(says) == 0 {
		if length != total {
			return 0, fault.Invalid("Content-Length", "must be "+strconv.FormatInt(total, 10)+", the announced size, if there is no Content-Range")
		}
		return 0, nil
	}
	parts := contentRange.FindStringSubmatch(says[0])
	if len(says) > 1 || parts == nil {
		return 0, fault.Invalid("Content-Range", "must be of the form bytes 0-1023/4096")
	}
	var n [3]int64
	for i := range n {
		n[i] = decimal(parts[i+1])
	}
	switch first, last := n[0], n[1]; {
	case n[2] != total:
		return 0, fault.Invalid("Content-Range", "must end with the announced size, "+strconv.FormatInt(total, 10))
	case last < first || last >= total:
		return 0, fault.Invalid("Content-Range", "lies outside the file")
	case last-first+1 != length:
		return 0, fault.Invalid("Content-Length", "must be "+strconv.FormatInt(last-first+1, 10)+", the length of the Content-Range")
	case !upload.Keeps(first, last+1, total):
		return 0, fault.Invalid("Content-Range", "must be of 65536 bytes or more, or to the end of the file")
	default:
		return first, nil
	}
}

func (s *Server) respondUpload(x *exchange, status int, u upload.Upload) error {
	s.respond(x, status, api.UploadResponse{Upload: s.uploadOf(u), RequestID: x.id})
	return nil
}

// uploadOf is an upload on the wire, with its address as long as bytes are missing.
func (s *Server) uploadOf(u upload.Upload) api.Upload {
	shown := api.Upload{
		Artifact: u.ID, State: api.UploadOpen, ContentType: u.ContentType, Bytes: u.Bytes, SHA256: u.SHA256, Received: u.Received,
		ExpiresAt: api.Timestamp{Time: u.ExpiresAt},
	}
	switch {
	case u.Damaged:
		shown.State = api.UploadDamaged
	case u.Complete:
		shown.State = api.UploadComplete
	default:
		shown.URL = s.base.String() + api.PathUploadBytes + u.ID + "?" + s.signer.SignUpload(u.ID, u.ExpiresAt)
	}
	return shown
}
