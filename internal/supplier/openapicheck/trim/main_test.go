package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRun makes one excerpt of two documents.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	newer := file("newer.json", `{"openapi":"3.1.0","info":{"version":"v2","description":"Prose."},"servers":[{"url":"https://shop.example/v2"}],
		"paths":{"/models/{id}:buy":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"}}}},
			"responses":{"200":{"description":"Prose.","content":{"application/json":{"schema":{"type":"object"}}}}}}}},
		"components":{"schemas":{"Order":{"type":"object","properties":{"model":{"type":"string","description":"Required. Which."},
			"n":{"type":"integer","description":"Required. How many."}}},"Event":{"type":"string"}}}}`)
	older := file("older.json", `{"openapi":"3.0.0","paths":{"/models/{id}:buy":{},"/gone":{"get":{"responses":{"200":{"content":{"text/plain":{"schema":{"$ref":"#/components/schemas/Gone"}}}}}}}},
		"components":{"schemas":{"Gone":{"type":"string","title":"Prose"},"Order":{"type":"string"}}}}`)
	out := filepath.Join(dir, "out.json")
	err := run([]string{
		"-in", newer, "-in", older, "-out", out, "-origin", "a shop", "-licence", "none", "-required", "-common", "query alt",
		"-events", "POST /models/{id}:buy=Event", "POST /models/{id}:buy", "GET /gone",
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "components": {
  "schemas": {
   "Event": {"type":"string"},
   "Gone": {"type":"string"},
   "Order": {"properties":{"model":{"type":"string"},"n":{"type":"integer"}},"required":["n"],"type":"object"}
  }
 },
 "info": {
  "title": "Excerpt",
  "version": "v2",
  "x-common": ["query alt"],
  "x-licence": "none",
  "x-origin": "a shop"
 },
 "openapi": "3.1.0",
 "paths": {
  "/gone": {
   "get": {"responses":{"200":{"content":{"text/plain":{"schema":{"$ref":"#/components/schemas/Gone"}}}}}}
  },
  "/models/{id}:buy": {
   "post": {"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"}}}},"responses":{"200":{"content":{"application/json":{"schema":{"type":"object"}},"text/event-stream":{"schema":{"$ref":"#/components/schemas/Event"}}}}}}
  }
 },
 "servers": [{"url":"https://shop.example/v2"}]
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, args := range [][]string{
		{"-in", newer, "-out", out},
		{"-in", filepath.Join(dir, "none"), "-out", out, "GET /gone"},
		{"-in", newer, "-out", out, "GET /gone"},
		{"-in", newer, "-out", out, "-events", "POST /models/{id}:buy=None", "POST /models/{id}:buy"},
	} {
		if run(args) == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
