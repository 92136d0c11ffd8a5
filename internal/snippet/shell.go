// Package snippet writes a request as people run it elsewhere: as a command of this program, as curl and as
// code.
//
// A key is never in it: commands and code read it from the environment variable UNITASK_API_KEY. Every text of a
// request is quoted, so that the shell runs no part of it. Media given as bytes stand for files.
package snippet

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/form"
)

// Command writes the request as a command of this program, for the service that its reader uses. It fails if the
// request isn't JSON.
func Command(fields []catalog.Field, req api.CreateRequest) (string, error) {
	return CommandAt("", fields, req)
}

// CommandAt is Command for the service at an address, "" for the one that the reader uses.
func CommandAt(baseURL string, fields []catalog.Field, req api.CreateRequest) (string, error) {
	words := []string{"unitask run " + Word(req.Capability)}
	primary, _ := form.Primary(fields)
	for _, group := range []struct {
		name string
		raw  json.RawMessage
	}{{catalog.GroupInput, req.Input}, {catalog.GroupParameters, req.Parameters}} {
		if len(group.raw) == 0 {
			continue
		}
		values, err := decode[map[string]any](group.raw)
		if err != nil {
			return "", err
		}
		for _, f := range fields {
			if v, ok := values[f.Name]; ok && f.Group == group.name {
				words = append(words, member(f, v, f.Name == primary.Name && group.name == catalog.GroupInput)...)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(req.Metadata)) {
		words = append(words, "--metadata "+Word(name+"="+req.Metadata[name]))
	}
	if baseURL != "" {
		words = append(words, "--base-url "+Word(baseURL))
	}
	return strings.Join(words, " "), nil
}

// member writes one member: an object's members apart, a list's items one by one, and other values as JSON.
func member(f catalog.Field, value any, isPrompt bool) []string {
	items, isList := value.([]any)
	members, isObject := value.(map[string]any)
	var words []string
	switch {
	case isObject && !f.Media:
		for _, m := range f.Members {
			if v, ok := members[m.Name]; ok {
				m.Name = f.Name + "." + m.Name
				words = append(words, member(m, v, false)...)
			}
		}
		return words
	case !isList:
		items = []any{value}
	}
	for _, item := range items {
		word, written := plain(f, item)
		switch {
		case !written:
			shorten(value)
			return []string{Word(f.Name + ":=" + compact(value))}
		case isPrompt && !strings.Contains(word, "=") && !strings.HasPrefix(word, "-"):
			words = append(words, Word(word))
		default:
			words = append(words, f.Name+"="+Word(word))
		}
	}
	return words
}

// plain writes one value as a word; objects are JSON, except media, whose bytes stand for a file.
func plain(f catalog.Field, value any) (string, bool) {
	switch v := value.(type) {
	case string:
		if strings.HasPrefix(v, "@") && f.Type == "string" {
			return "@" + v, true // else a file would be read
		}
		return v, v != "-"
	case json.Number:
		return v.String(), true
	case bool:
		return compact(v), true
	case map[string]any:
		for _, name := range []string{"url", "artifact"} {
			if named, ok := v[name].(string); ok {
				return named, f.Media
			}
		}
		if data, _ := v["data"].(string); f.Media && strings.HasPrefix(data, form.PrefixFile) {
			return "@" + strings.TrimPrefix(data, form.PrefixFile), true
		}
		contentType, _ := v["content_type"].(string)
		return "@FILE" + extension(contentType), f.Media
	default:
		return "", false
	}
}

// extension is that of a file of the media type, as far as one is obvious.
func extension(contentType string) string {
	_, sub, _ := strings.Cut(contentType, "/")
	switch sub {
	case "jpeg":
		return ".jpg"
	case "mpeg":
		return ".mp3"
	case "png", "webp", "wav", "mp4", "webm", "ogg", "flac", "pdf":
		return "." + sub
	default:
		return ""
	}
}

// Curl writes the request as a command for a POSIX shell. Run again, it gets the same task. files are those whose
// base64 stands in the request, by that base64: the command reads them, since an argument has no room for many bytes.
func Curl(baseURL, idempotencyKey string, req api.CreateRequest, files map[string]string) (string, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return "", err
	}
	curl := "curl -sS " + quoted(baseURL+api.PathTasks) + " \\\n" +
		"  -H \"Authorization: Bearer $UNITASK_API_KEY\" \\\n" +
		"  -H 'Content-Type: application/json' \\\n" +
		"  -H " + quoted(api.HeaderIdempotencyKey+": "+idempotencyKey) + " \\\n"
	if len(files) == 0 {
		return curl + "  -d " + quoted(string(body)) + "\n", nil
	}
	var replace []string
	for data, path := range files {
		replace = append(replace, data, "'\nbase64 <"+Word(path)+" | tr -d '\\n'\nprintf %s '") // within quotes
	}
	return "{\nprintf %s " + strings.NewReplacer(replace...).Replace(quoted(string(body))) + "\n} | " + curl + "  --data-binary @-\n", nil
}

// Ahead begins a command of Curl with those that send files ahead. In its request stand the names of variables for their
// artifacts, by which the paths are given.
func Ahead(curl, baseURL string, files map[string]string) string {
	var before strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		before.WriteString(name + "=$(unitask upload " + Word(files[name]) + " --base-url " + Word(baseURL) + ") &&\n")
		curl = strings.ReplaceAll(curl, `{"artifact":"`+name+`"}`, `{"artifact":"'"$`+name+`"'"}`)
	}
	return before.String() + curl
}

// Word quotes a word only if a POSIX shell would take it apart.
func Word(word string) string {
	harmless := func(r rune) bool { return strings.ContainsRune(`-_./:@=,+%`, r) }
	special := func(r rune) bool {
		return !harmless(r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	if !strings.ContainsAny(word, "\"$`\\!") {
		return `"` + word + `"`
	}
	return quoted(word)
}

// quoted makes one word of any text for a POSIX shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func compact(value any) string {
	raw, _ := json.Marshal(value) // it was read from JSON
	return string(raw)
}

// decode reads JSON whose numbers stay as they are written.
func decode[T any](raw []byte) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
