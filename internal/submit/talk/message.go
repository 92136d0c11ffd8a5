package talk

import (
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/arguments"
)

// Message makes a person's message of a text and the files that go along with it, as the capability takes them.
func (s *Session) Message(text string, paths []string, read *arguments.Reader) (json.RawMessage, error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	words := []string{s.Prompt() + ":=" + string(quoted)}
	for _, path := range paths {
		words = append(words, "@"+path)
	}
	req, err := arguments.Fit(s.Entry, words, read)
	if err != nil {
		return nil, err
	}
	var input struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(req.Input, &input); err != nil {
		return nil, err
	}
	if len(input.Messages) == 1 {
		return withoutBlank(input.Messages[0])
	}
	return json.Marshal(map[string]string{"role": "user", "content": text})
}

// withoutBlank leaves out the text of a message that has files alone.
func withoutBlank(raw json.RawMessage) (json.RawMessage, error) {
	var m struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	m.Content = slices.DeleteFunc(m.Content, func(part json.RawMessage) bool {
		var text struct {
			Text *string `json:"text"`
		}
		return json.Unmarshal(part, &text) == nil && text.Text != nil && strings.TrimSpace(*text.Text) == ""
	})
	return json.Marshal(m)
}
