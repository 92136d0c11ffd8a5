package modelmap

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
)

// The conversions of a rule.
const (
	asValue  = ""         // as it is, or by the rule's values
	asSize   = "size"     // WIDTHxHEIGHT → {"width": …, "height": …}
	asWidth  = "width"    // of WIDTHxHEIGHT
	asHeight = "height"   // of WIDTHxHEIGHT
	asJoined = "joined"   // a list of texts → one text, with the rule's separator between
	asListed = "listed"   // a list of texts → one text for reading, with commas between
	asTongue = "language" // a language tag → its language without a region, as a value
	asTurn   = "turn"     // messages that are one turn of the user → its text
	asMedia  = "media"    // one media value → its bytes as a data: address
	asAlbum  = "album"    // a list of media values → a list of data: addresses
)

// mapping is the mapping of one neutral member: a pointer, one rule, or several.
type mapping []rule

// rule is a value's place and its conversion. Without a To it is only checked: the model does just that.
type rule struct {
	To        string                     `json:"to"`
	As        string                     `json:"as"`
	Values    map[string]json.RawMessage `json:"values"`    // by the neutral value: the model's; no others are honoured
	Only      []string                   `json:"only"`      // the values honoured; empty: all
	Least     *float64                   `json:"least"`     // of a number, or of both sides of a size
	Most      *float64                   `json:"most"`      // of a number, of both sides of a size, or of an album's length
	Step      int                        `json:"step"`      // that both sides of a size are multiples of
	Area      int                        `json:"area"`      // the most pixels of a size
	Separator string                     `json:"separator"` // of joined
}

// UnmarshalJSON takes a pointer, a rule or a list of rules.
func (w *mapping) UnmarshalJSON(b []byte) error {
	strict := jsonv2.RejectUnknownMembers(true)
	switch {
	case len(b) > 0 && b[0] == '"':
		*w = mapping{{}}
		return json.Unmarshal(b, &(*w)[0].To)
	case len(b) > 0 && b[0] == '[':
		var list []rule
		err := jsonv2.Unmarshal(b, &list, strict)
		*w = list
		return err
	default:
		*w = mapping{{}}
		return jsonv2.Unmarshal(b, &(*w)[0], strict)
	}
}

func (r rule) check() error {
	known := []string{asValue, asSize, asWidth, asHeight, asJoined, asListed, asTongue, asTurn, asMedia, asAlbum}
	switch {
	case r.To != "" && !settable(r.To):
		return errors.New("to must be a pointer such as /name")
	case r.To == "" && len(r.Only) == 0:
		return errors.New("needs to, or only")
	case !slices.Contains(known, r.As):
		return fmt.Errorf("as must be one of %s", strings.Join(known[1:], ", "))
	case r.As == asJoined && r.Separator == "":
		return errors.New("joined needs a separator")
	case r.Step < 0 || r.Area < 0:
		return errors.New("step or area is negative")
	default:
		return nil
	}
}

// member splits a neutral pointer into "input" or "parameters" and the member's name.
func member(pointer string) (part, name string, ok bool) {
	part, name, ok = strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return part, name, ok && pointer != "" && pointer[0] == '/' && (part == "input" || part == "parameters") &&
		name != "" && !strings.Contains(name, "/")
}

// settable reports whether a pointer names a member of an object, perhaps nested.
func settable(pointer string) bool {
	rest, ok := strings.CutPrefix(pointer, "/")
	return ok && !slices.Contains(strings.Split(rest, "/"), "") && !strings.Contains(rest, "~")
}
