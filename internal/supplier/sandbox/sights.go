package sandbox

import (
	"bytes"
	"fmt"
	"image"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
	"unitask/internal/supplier/upstream"
)

// sights is what the sandbox makes out of a chat's media, and the tokens that they count as.
type sights struct {
	seen, heard, read        []string // descriptions of images, recordings and documents
	images, audio, documents int64
}

// The tokens of media, of the size that suppliers count.
const (
	pixelsPerToken  = 750
	tokensOfImage   = 1600 // at most
	tokensPerSecond = 32   // of sound
	bytesPerToken   = 4
	bytesPerSecond  = 4000 // of a recording whose length can't be told
	leastTokens     = 1    // of any media value
)

// add looks at the media of a message and returns its text.
func (s *sights) add(r supplier.Request, c upstream.Content) (string, error) {
	if c.Parts == nil {
		return c.Text, nil
	}
	var texts []string
	for _, p := range c.Parts {
		if p.Media == "" {
			texts = append(texts, p.Text)
			continue
		}
		data, err := readMedia(r, p.Media)
		if err != nil {
			return "", err
		}
		s.note(p.Type, r.Media[p.Media].ContentType, data)
	}
	return strings.Join(texts, "\n"), nil
}

// note describes one media value.
func (s *sights) note(kind, contentType string, data []byte) {
	_, form, _ := strings.Cut(contentType, "/")
	size := counted(len(data), "byte")
	tokens := int64(len(data))/bytesPerToken + leastTokens
	switch kind {
	case upstream.PartImage:
		if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
			size = fmt.Sprintf("%d×%d", c.Width, c.Height)
			tokens = int64(c.Width)*int64(c.Height)/pixelsPerToken + leastTokens
		}
		s.seen = append(s.seen, form+", "+size)
		s.images += min(tokens, tokensOfImage)
	case upstream.PartAudio:
		seconds := float64(len(data)) / bytesPerSecond
		if h := media.Listen(data); h.Duration > 0 {
			seconds = h.Duration.Seconds()
			size = fmt.Sprintf("%.1f seconds", seconds)
		}
		s.heard = append(s.heard, form+", "+size)
		s.audio += int64(seconds*tokensPerSecond) + leastTokens
	default:
		s.read = append(s.read, form+", "+size)
		s.documents += tokens
	}
}

// String says what was there; "" for nothing.
func (s *sights) String() string {
	var all []string
	for _, group := range []struct {
		verb, noun string
		of         []string
	}{{"see", "image", s.seen}, {"hear", "recording", s.heard}, {"read", "document", s.read}} {
		if len(group.of) > 0 {
			all = append(all, fmt.Sprintf("I %s %s (%s).", group.verb, counted(len(group.of), group.noun), strings.Join(group.of, "; ")))
		}
	}
	return strings.Join(all, " ")
}
