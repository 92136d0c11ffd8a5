package gemini

import "encoding/json"

// kept is an answer's state: the signatures of its parts, which hold the model's thoughts in a form that Google alone
// can read. The model goes on from them when it sees them again at the same parts.
type kept struct {
	Text  string     `json:"text,omitzero"`
	Calls []keptCall `json:"calls,omitempty"`
}

type keptCall struct {
	Call      int    `json:"call"` // which of the answer's
	Signature string `json:"signature"`
}

// readKept reads a state. What is of another form is none.
func readKept(state json.RawMessage) (k kept) {
	if len(state) == 0 || json.Unmarshal(state, &k) != nil {
		return kept{}
	}
	return k
}

// state returns k as it is kept, nil without a signature.
func (k kept) state() json.RawMessage {
	if k.Text == "" && len(k.Calls) == 0 {
		return nil
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return nil // strings and numbers can always be written
	}
	return raw
}

// of returns the signature of a call; "" without one.
func (k kept) of(call int) string {
	for _, c := range k.Calls {
		if c.Call == call {
			return c.Signature
		}
	}
	return ""
}
