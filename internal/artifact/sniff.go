package artifact

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// SniffLen is how many bytes Sniff looks at.
const SniffLen = 512

// The content types that are kept. Types that a browser would run aren't among them.
const (
	typePNG  = "image/png"
	typeJPEG = "image/jpeg"
	typeWebP = "image/webp"
	typeGIF  = "image/gif"
	typeMP4  = "video/mp4"
	typeWebM = "video/webm"
	typeWAV  = "audio/wav"
	typeMPEG = "audio/mpeg"
	typeOgg  = "audio/ogg"
	typeFLAC = "audio/flac"
	typeAAC  = "audio/aac"
	typeM4A  = "audio/mp4"
	typeText = "text/plain"

	typeMarkdown = "text/markdown"
	typeRaw      = "application/octet-stream" // a piece of an upload, which no caller can name
)

var (
	mediaTypes = []string{
		typePNG, typeJPEG, typeWebP, typeGIF, typeMP4, typeWebM,
		typeWAV, typeMPEG, typeOgg, typeFLAC, typeAAC, typeM4A,
	}
	textTypes = []string{typeText, typeMarkdown, "text/vtt", "application/x-subrip", "application/json"}
)

// Sniff returns the content type that the first SniffLen bytes prove, or "" for all that isn't on
// the list. It goes by the bytes alone.
func Sniff(head []byte) string {
	head = head[:min(len(head), SniffLen)]
	for _, s := range signatures {
		if s.matches(head) {
			return s.kind
		}
	}
	return ""
}

// Suits reports whether a content type is allowed for a media value of a kind: "image" or "audio", which a film with
// sound is too; "video", such a film; "document", a PDF or a text; "file" may be anything.
func Suits(kind, contentType string) bool {
	switch kind {
	case "image":
		return contentType == typePNG || contentType == typeJPEG || contentType == typeWebP
	case "audio":
		return strings.HasPrefix(contentType, "audio/") || contentType == typeMP4 || contentType == typeWebM
	case "video":
		return contentType == typeMP4 || contentType == typeWebM
	case "document":
		return contentType == typePDF || contentType == typeText || contentType == typeMarkdown
	default:
		return true
	}
}

// Proves reports whether the first SniffLen bytes are those of possible evidence about a person: a picture or a PDF.
// Such bytes are read and never kept.
func Proves(head []byte) bool {
	switch Sniff(head) {
	case typePNG, typeJPEG, typeWebP:
		return true
	default:
		return isPDF(head)
	}
}

// signature is one way to recognise one content type.
type signature struct {
	kind    string
	matches func(head []byte) bool
}

var signatures = []signature{
	{typePNG, prefix("\x89PNG\r\n\x1a\n")},
	{typeJPEG, prefix("\xff\xd8\xff")},
	{typeGIF, prefix("GIF87a")},
	{typeGIF, prefix("GIF89a")},
	{typeWebP, riff("WEBP")},
	{typeWAV, riff("WAVE")},
	{typeM4A, func(b []byte) bool { return brand(b, "M4A ", "M4B ") }},
	{typeMP4, func(b []byte) bool {
		return brand(b, "isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "dash", "M4V ", "MSNV", "mmp4")
	}},
	{typeWebM, isWebM},
	{typeOgg, prefix("OggS\x00")},
	{typeFLAC, prefix("fLaC\x00")},
	{typeMPEG, prefix("ID3")},
	{typeMPEG, isLayer3},
	{typeAAC, isADTS},
}

func prefix(magic string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }
}

func riff(form string) func([]byte) bool {
	return func(b []byte) bool {
		return len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == form
	}
}

// brand matches the major brand of an ISO media file, which tells films from still pictures and
// from QuickTime's own.
func brand(b []byte, brands ...string) bool {
	return len(b) >= 16 && string(b[4:8]) == "ftyp" && slices.Contains(brands, string(b[8:12]))
}

// isWebM looks for the document type in the EBML header; Matroska shares all but that.
func isWebM(b []byte) bool {
	const docType = "\x42\x82\x84webm"
	return bytes.HasPrefix(b, []byte("\x1a\x45\xdf\xa3")) && bytes.Contains(b[:min(len(b), 64)], []byte(docType))
}

// isLayer3 matches an MPEG audio frame: eleven sync bits, layer III, a bit rate and a sampling rate
// that exist.
func isLayer3(b []byte) bool {
	return len(b) >= 4 && b[0] == 0xff && b[1]&0xe6 == 0xe2 && b[1]&0x18 != 0x08 &&
		b[2]&0xf0 != 0xf0 && b[2]&0xf0 != 0 && b[2]&0x0c != 0x0c
}

// isADTS matches an AAC frame: twelve sync bits, layer 0, a sampling rate that exists, and a length
// that holds its own header.
func isADTS(b []byte) bool {
	return len(b) >= 7 && b[0] == 0xff && b[1]&0xf6 == 0xf0 && b[2]>>2&15 <= 12 &&
		binary.BigEndian.Uint32(b[2:])>>5&0x1fff >= 7
}

// textKind returns the text type that a claim such as "text/plain; charset=utf-8" names, or "".
func textKind(claim string) string {
	kind, _, _ := strings.Cut(claim, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if slices.Contains(textTypes, kind) {
		return kind
	}
	return ""
}

// isText allows UTF-8 without NUL; a rune that the end of the head cuts is no fault.
func isText(head []byte) bool {
	for i := range min(utf8.UTFMax, len(head)) {
		if part := head[:len(head)-i]; utf8.Valid(part) {
			return !bytes.ContainsRune(part, 0) && (i == 0 || len(head) == SniffLen)
		}
	}
	return len(head) == 0
}

func known(kind string) bool {
	return slices.Contains(mediaTypes, kind) || slices.Contains(textTypes, kind)
}
