package arguments

import (
	"path/filepath"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/form"
	"unitask/internal/hint"
)

// format is the parameter that decides the content type of a result's files.
const format = "format"

// endings are those by which files of other formats are known. A file of any other ending, such as that of a temporary
// file, takes a result of any format.
var endings = []string{
	"aac", "aiff", "avif", "bmp", "flac", "gif", "heic", "jpeg", "m4a", "mkv", "mov", "mp3", "mp4", "ogg", "opus", "pdf", "png",
	"srt", "svg", "text", "tif", "tiff", "vtt", "wav", "webm", "webp", "wma",
}

// WithFormat returns the words with one more if they name no format and the ending of the file that takes the result
// is one that the capability has. An ending of a format that it hasn't is a *hint.UsageError.
func WithFormat(c api.Capability, words []string, file string) ([]string, error) {
	ending := strings.TrimPrefix(filepath.Ext(file), ".")
	asked := strings.ToLower(ending)
	switch asked {
	case "jpg":
		asked = "jpeg"
	case "txt":
		asked = "text"
	}
	fields, err := catalog.FieldsOf(c.InputSchema, c.ParametersSchema)
	at := slices.IndexFunc(fields, func(f catalog.Field) bool { return f.Group == catalog.GroupParameters && f.Name == format })
	if err != nil || asked == "" || at < 0 || len(fields[at].Enum) == 0 {
		return words, nil //nolint:nilerr // Fit reads the fields too, and says why it can't
	}
	offered := fields[at].Enum
	switch given := func(word string) bool { return Parse(word).Name == format }; {
	case !slices.Contains(offered, asked) && slices.Contains(endings, asked):
		return nil, &hint.UsageError{
			Message: string(c.Name) + " makes no ." + ending + "; -o takes a file that ends in " + form.AnyOf(endingsOf(offered)),
			Hint:    "-o 'NAME.*' chooses the right ending",
		}
	case slices.Contains(offered, asked) && !slices.ContainsFunc(words, given):
		return append(slices.Clip(words), format+"="+asked), nil
	}
	return words, nil
}

// endingsOf are the endings of files of these formats.
func endingsOf(formats []string) []string {
	all := make([]string, len(formats))
	for i, f := range formats {
		switch f {
		case "jpeg":
			f = "jpg"
		case "text":
			f = "txt"
		}
		all[i] = "." + f
	}
	return all
}
