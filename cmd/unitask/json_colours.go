package main

import (
	"bytes"
	"regexp"
)

// jsonToken is a name with its colon, a text, or a number, true, false or null.
var jsonToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\s*:)?|-?[0-9][0-9.eE+-]*|true|false|null`)

// json colours JSON that is written over several lines.
func (s styles) json(text []byte) []byte {
	return jsonToken.ReplaceAllFunc(text, func(token []byte) []byte {
		name, isName := bytes.CutSuffix(token, []byte(":"))
		switch {
		case isName && token[0] == '"':
			return append([]byte(s.busy.Render(string(name))), ':')
		case token[0] == '"':
			return []byte(s.good.Render(string(token)))
		default:
			return []byte(s.bold.Render(string(token)))
		}
	})
}
