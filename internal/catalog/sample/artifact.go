package sample

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// artifactRef refers to the definition of a result file that the service keeps.
const artifactRef = "#/$defs/artifact"

// Artifact returns a description of the n-th file of a result, as its reader gets it. Value puts it in each place of
// one.
func Artifact(n int) map[string]any {
	id := fmt.Sprint("art_sample_", n)
	return map[string]any{
		"id": id, "url": "https://unitask.invalid/artifacts/" + id + "?exp=1&sig=signature", "content_type": "image/png",
		"bytes": 1.0, "sha256": strings.Repeat("0", 64), "width": 1.0, "height": 1.0, "duration_seconds": nil,
		"expires_at": "2030-01-01T00:00:00.000Z",
	}
}

// Places returns the value with {"artifact":i} in the place of its i-th description of a file, and how many there are.
func Places(v any) (any, int) {
	n := 0
	return replaced(v, func(object map[string]any) any {
		id, _ := object["id"].(string)
		_, hashed := object["sha256"]
		if _, has := object["url"]; !has || !hashed || !strings.HasPrefix(id, "art_") {
			return nil
		}
		n++
		return map[string]any{"artifact": float64(n - 1)}
	}), n
}

// Described is the inverse of Places: artifacts stand in the places again.
func Described(v any) any {
	return replaced(v, func(object map[string]any) any {
		n, ok := object["artifact"].(float64)
		if len(object) != 1 || !ok {
			return nil
		}
		return Artifact(int(n))
	})
}

// replaced returns a copy of a value in which objects are replaced that have a replacement.
func replaced(v any, with func(map[string]any) any) any {
	switch v := v.(type) {
	case map[string]any:
		if other := with(v); other != nil {
			return other
		}
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = replaced(v[name], with)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = replaced(item, with)
		}
		return out
	}
	return v
}
