package chat

import (
	"encoding/json"
	"strconv"
	"strings"

	"unitask/internal/journal"
)

// markPrefix begins the text that stands for a file's bytes. No base64 has a colon.
const markPrefix = "file:"

func mark(piece int) string { return markPrefix + strconv.Itoa(piece) }

// marked returns the path of the file for whose bytes the text stands.
func marked(text string, pieces []journal.Piece) (string, bool) {
	digits, ok := strings.CutPrefix(text, markPrefix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n >= len(pieces) || pieces[n].File == "" {
		return "", false
	}
	return pieces[n].File, true
}

// said reads a message for a person.
func said(raw json.RawMessage, pieces []journal.Piece) Said {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		CallID  string          `json:"tool_call_id"`
	}
	_ = json.Unmarshal(raw, &m) // one of another form has no words
	out := Said{Role: m.Role, CallID: m.CallID}
	if json.Unmarshal(m.Content, &out.Text) == nil {
		return out
	}
	var parts []map[string]json.RawMessage
	_ = json.Unmarshal(m.Content, &parts) // the same
	var texts []string
	for _, part := range parts {
		var kind, text string
		_ = json.Unmarshal(part["type"], &kind)
		if json.Unmarshal(part["text"], &text) == nil {
			texts = append(texts, text)
			continue
		}
		var medium struct {
			Data     string `json:"data"`
			URL      string `json:"url"`
			Artifact string `json:"artifact"`
		}
		_ = json.Unmarshal(part[kind], &medium)
		file, ok := marked(medium.Data, pieces)
		switch {
		case ok:
		case medium.Data != "":
			file = kind
		default:
			file = medium.URL + medium.Artifact
		}
		out.Files = append(out.Files, file)
	}
	out.Text = strings.Join(texts, "\n")
	return out
}
