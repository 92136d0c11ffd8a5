package modelmap

import (
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/supplier"
)

// pieces is the place of a transcript's pieces, and within each the places of its members.
type pieces struct {
	At      string `json:"at"`
	Start   string `json:"start"` // seconds
	End     string `json:"end"`   // seconds
	Text    string `json:"text"`
	Speaker string `json:"speaker"`
}

// UnmarshalJSON takes the pointer of a list whose members have the usual names, or an object.
func (p *pieces) UnmarshalJSON(b []byte) error {
	*p = pieces{Start: "/start", End: "/end", Text: "/text", Speaker: "/speaker"}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &p.At)
	}
	type fields pieces
	return jsonv2.Unmarshal(b, (*fields)(p), jsonv2.RejectUnknownMembers(true))
}

// in returns the pieces of a model's output; nil if it has none, or one without possible times and a text.
func (p *pieces) in(body any) []supplier.Segment {
	if p == nil {
		return nil
	}
	list, _ := at(body, &p.At).([]any)
	var all []supplier.Segment
	for _, one := range list {
		start, isStart := at(one, &p.Start).(float64)
		end, isEnd := at(one, &p.End).(float64)
		text, isText := at(one, &p.Text).(string)
		if !isStart || !isEnd || !isText || !(start >= 0 && end >= start && end <= maxSeconds) {
			return nil
		}
		speaker, _ := at(one, &p.Speaker).(string)
		all = append(all, supplier.Segment{Start: start, End: end, Text: strings.TrimSpace(text), Speaker: speaker})
	}
	return all
}
