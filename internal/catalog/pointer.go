package catalog

import (
	"strconv"
	"strings"
)

// lookup returns the value at a JSON pointer into v; nil if absent.
func lookup(v any, pointer string) any {
	if pointer == "" {
		return v
	}
	for tok := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[unescapeToken(tok)]
		case []any:
			i, err := strconv.Atoi(tok)
			if err != nil || i < 0 || i >= len(inner) {
				return nil
			}
			v = inner[i]
		default:
			return nil
		}
	}
	return v
}

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func escapeToken(tok string) string {
	return escaper.Replace(tok)
}

func unescapeToken(tok string) string {
	return unescaper.Replace(tok)
}

// stringsOf returns the strings of a JSON array; nil for anything else.
func stringsOf(v any) []string {
	items, _ := v.([]any)
	var all []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}
