package openapicheck_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// FuzzRequest holds that a body that is as published no longer is with a member that no document lists, and
// that of any bytes in the place of a form or of JSON there comes an error at most.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"id":"a","how":{"card":"1"},"free":{"x":1},"typed":{"b":1}}`, `{"id":"a","how":{"cash":true},"parts":[{"id":"b","parts":[]}]}`,
		`[]`, `null`, `{"id":1e400}`, "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n3\r\n--b--", "--b\r\n\r\n--b--",
	} {
		f.Add(s)
	}
	d := mustDocument(f)
	hold := func(t *testing.T, path, kind string, body []byte) error {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil)
		r.Header.Set("Content-Type", kind)
		_, err := d.Request(r, body)
		return err
	}
	f.Fuzz(func(t *testing.T, body string) {
		_ = hold(t, "/v2/things", "multipart/form-data; boundary=b", []byte(body))
		const sold, plain = "/v2/things/7:buy?page=1", "application/json"
		var order map[string]json.RawMessage
		if hold(t, sold, plain, []byte(body)) != nil || json.Unmarshal([]byte(body), &order) != nil {
			return
		}
		order["unlisted"] = json.RawMessage(`1`)
		more, err := json.Marshal(order)
		if err != nil {
			t.Fatal(err)
		}
		if hold(t, sold, plain, more) == nil {
			t.Errorf("as published: %s", more)
		}
	})
}
