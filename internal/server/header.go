package server

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"unitask/internal/api"
	"unitask/internal/fault"
)

func checkMediaType(h http.Header) error {
	if values := h["Content-Type"]; len(values) == 1 && values[0] == "application/json" && len(h["Content-Encoding"]) == 0 {
		return nil
	}
	kind, params, err := mediaType(h)
	switch charset, said := params["charset"]; {
	case err != nil:
		return err
	case kind != "application/json":
		return wrongType("must be application/json")
	case said && !strings.EqualFold(charset, "utf-8"):
		return wrongType("takes no charset but utf-8")
	}
	return nil // other parameters have no meaning for JSON, by RFC 8259
}

// checkForm returns the boundary of a form.
func checkForm(h http.Header) (boundary string, err error) {
	const longest = 70 // by RFC 2046
	kind, params, err := mediaType(h)
	if boundary = params["boundary"]; err != nil {
		return "", err
	}
	if kind != "multipart/form-data" || boundary == "" || len(boundary) > longest {
		return "", wrongType("must be multipart/form-data with its boundary")
	}
	return boundary, nil
}

// mediaType returns the media type of a body, which isn't encoded; "" for none or one that can't be read.
func mediaType(h http.Header) (kind string, params map[string]string, err error) {
	for _, encoding := range h["Content-Encoding"] {
		if !strings.EqualFold(strings.TrimSpace(encoding), "identity") {
			return "", nil, fault.Invalid("Content-Encoding", "must be absent: bodies are taken as they are").WithAspect(fault.AspectMediaType)
		}
	}
	if values := h["Content-Type"]; len(values) == 1 {
		if kind, params, err = mime.ParseMediaType(values[0]); err == nil {
			return kind, params, nil
		}
	}
	return "", nil, nil
}

func wrongType(problem string) *fault.Error {
	return fault.Invalid("Content-Type", problem).WithAspect(fault.AspectMediaType)
}

func tooLarge(limit int64) *fault.Error {
	return fault.Newf(fault.InvalidRequest, "the body is larger than %d bytes", limit).WithAspect(fault.AspectSize)
}

// idempotencyKey returns the one Idempotency-Key, trimmed of outer white space.
func idempotencyKey(h http.Header) (string, error) {
	wrong := func(problem string) (string, error) { return "", fault.Invalid(api.HeaderIdempotencyKey, problem) }
	values := h[api.HeaderIdempotencyKey]
	switch {
	case len(values) == 0:
		return wrong("is required")
	case len(values) > 1:
		return wrong("must be sent once")
	case !utf8.ValidString(values[0]):
		return wrong("must be valid UTF-8")
	}
	key := strings.TrimSpace(values[0])
	if strings.ContainsFunc(key, unicode.IsControl) {
		return wrong("must have no control characters")
	}
	if n := utf8.RuneCountInString(key); n < api.MinIdempotencyKey || n > api.MaxIdempotencyKey {
		return wrong("must have " + strconv.Itoa(api.MinIdempotencyKey) + " to " + strconv.Itoa(api.MaxIdempotencyKey) +
			" characters, this one has " + strconv.Itoa(n))
	}
	return key, nil
}

// optionalKey is idempotencyKey for a request that may do without: "" then.
func optionalKey(h http.Header) (string, error) {
	if len(h[api.HeaderIdempotencyKey]) == 0 {
		return "", nil
	}
	return idempotencyKey(h)
}

// preferredWait returns the wait that a Prefer header asks for, at most api.MaxWait; nil without one. As RFC 7240
// wants it, an unknown preference is ignored and the first of several counts.
func preferredWait(h http.Header) *time.Duration {
	values := h[api.HeaderPrefer]
	if len(values) == 0 {
		return nil
	}
	for preference := range strings.SplitSeq(strings.Join(values, ","), ",") {
		token, _, _ := strings.Cut(preference, ";")
		name, value, _ := strings.Cut(token, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		if value == "" || strings.Trim(value, "0123456789") != "" {
			return nil
		}
		seconds, err := strconv.Atoi(value)
		if err != nil { // digits, so out of range
			return new(api.MaxWait)
		}
		return new(min(api.MaxWait, time.Duration(min(seconds, 3600))*time.Second))
	}
	return nil
}

// applied says which wait was honoured.
func applied(h http.Header, wait *time.Duration) {
	if wait != nil {
		h.Set(api.HeaderPreferenceApplied, "wait="+strconv.Itoa(api.Seconds(*wait)))
	}
}
