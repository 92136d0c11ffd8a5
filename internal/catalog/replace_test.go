package catalog_test

import (
	"encoding/json"
	"testing"

	"unitask/internal/catalog"
)

func TestReplaced(t *testing.T) {
	const input = `{"a/b":{"~":[1,"two",{"data":"x"}]},"images":[{"data":"AAAA"},{"url":"https://a"}],"prompt":"<&>\n"}`
	for name, tt := range map[string]struct {
		values map[string]json.RawMessage
		want   string
	}{
		"nothing":  {nil, input},
		"one":      {map[string]json.RawMessage{"/images/0": json.RawMessage(`{}`)}, `{"a/b":{"~":[1,"two",{"data":"x"}]},"images":[{},{"url":"https://a"}],"prompt":"<&>\n"}`},
		"several":  {map[string]json.RawMessage{"/images/1": json.RawMessage(`2`), "/prompt": json.RawMessage(`"longer than it was"`), "/a~1b/~0/2/data": json.RawMessage(`null`)}, `{"a/b":{"~":[1,"two",{"data":null}]},"images":[{"data":"AAAA"},2],"prompt":"longer than it was"}`},
		"not here": {map[string]json.RawMessage{"/images/2": json.RawMessage(`1`), "/x": json.RawMessage(`1`), "/prompt/0": json.RawMessage(`1`)}, input},
	} {
		if got := catalog.Replaced(json.RawMessage(input), tt.values); string(got) != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}
