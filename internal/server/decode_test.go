package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/server"
)

// FuzzDecodeObject: a body is refused by one row that names a member and has no word of Go's, or it is read as the
// standard library reads it.
func FuzzDecodeObject(f *testing.F) {
	for _, body := range []string{
		`{"name":"a","mode":"test","scopes":["text.*"],"budget":"5","open_tasks":1}`, `{"name":null}`, `{"open_tasks":1e3}`,
		`{"scopes":{}}`, `{"a/b":1}`, `{"\u001b":1}`, `{"name":"a","name":"b"}`, "{\"name\":\"\xff\"}", `[]`, ` {} `, `{"expires_in_seconds":1e30}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, want api.KeyCreate
		err := server.DecodeObject(body, &got)
		if err == nil {
			if err := json.Unmarshal(body, &want); err != nil || !cmp.Equal(got, want) {
				t.Errorf("%s: %+v, want %+v, %v", body, got, want, err)
			}
			return
		}
		e := fault.From(err)
		if e.Code != fault.InvalidRequest || len(e.Details) != 1 || strings.Contains(e.Message, "json:") {
			t.Errorf("%s: %+v", body, e)
		}
		if strings.ContainsFunc(e.Message, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%s: %q", body, e.Message)
		}
	})
}
