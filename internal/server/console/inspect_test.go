package console_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// inspect checks the common properties of every answer to a browser: its headers, and a page that can run nothing but
// the console's own files, whatever the texts in it say.
func inspect(t *testing.T, a answer) {
	t.Helper()
	api := strings.HasPrefix(a.Header.Get("Content-Type"), "application/json")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
			"media-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	} {
		if got := a.Header.Get(name); !api && got != want {
			t.Errorf("%s %s: %s is %q", a.Request.Method, a.Request.URL, name, got)
		}
	}
	if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
		return
	}
	if got := a.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("%s: Cache-Control is %q", a.Request.URL, got)
	}
	if problem := hostile(a.body); problem != "" {
		t.Errorf("%s: %s", a.Request.URL, problem)
	}
}

// hostile returns the parts of a page that aren't the console's own.
func hostile(page string) string {
	elements := 0
	for tokens := html.NewTokenizer(strings.NewReader(page)); tokens.Next() != html.ErrorToken; {
		token := tokens.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		elements++
		if problem := judge(token); problem != "" {
			return problem + ": " + token.String()
		}
	}
	if elements == 0 {
		return "no page at all"
	}
	return ""
}

func judge(token html.Token) string {
	src := ""
	for _, a := range token.Attr {
		value := strings.ToLower(strings.TrimSpace(a.Val))
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc":
			return "an inline script or style"
		case a.Key == "src", a.Key == "href", a.Key == "action", a.Key == "formaction":
			if value != "" && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "?") || strings.HasPrefix(value, "//") {
				return "an address of another place"
			}
			if a.Key == "src" {
				src = value
			}
		}
	}
	switch token.Data {
	case "script":
		if !strings.HasPrefix(src, "/console/static/") {
			return "a foreign script"
		}
	case "iframe", "object", "embed", "base", "style", "foreignobject", "animate":
		return "an element that no page has"
	}
	return ""
}

// TestInspectorFinds: the inspector itself isn't blind.
func TestInspectorFinds(t *testing.T) {
	for _, page := range []string{
		"", "text", `<script>alert(1)</script>`, `<script src="https://evil.example/x.js"></script>`, `<img src="/x" onerror="alert(1)">`,
		`<svg onload=alert(1)>`, `<a href="javascript:alert(1)">`, `<p style="color:red">`, `<form action="//evil.example">`, `<base href="/">`,
	} {
		if hostile(page) == "" {
			t.Errorf("%q passes", page)
		}
	}
	if got := hostile(`<a href="/console/">&lt;script&gt;</a><script src="/console/static/x.js"></script>`); got != "" {
		t.Error(got)
	}
}

// anyKey is an API key in a text.
var anyKey = regexp.MustCompile(`svc_(live|test)_[0-9A-Za-z]{38}`)

func decode[T any](t *testing.T, a answer) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("status %d, body %q: %v", a.StatusCode, a.body, err)
	}
	return out
}
