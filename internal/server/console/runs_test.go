package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var personOf = regexp.MustCompile(`data-person="([^"]*)"`)

// TestPerson: a page says under which id a browser keeps somebody's runs, and it is the member's of one account alone.
func TestPerson(t *testing.T) {
	w := newWorld(t)
	ids := map[string]string{}
	for _, who := range []struct{ account, member, role string }{
		{"acme", "ann", "member"}, {"acme", "bob", "member"}, {"other", "ann", "operator"},
	} {
		var own []string
		for range 2 { // two browsers
			b := w.browser()
			if got := b.post("/sign-in", url.Values{"token": {w.link(who.account, who.member, who.role)}}); got.StatusCode != http.StatusSeeOther {
				t.Fatalf("signing in: %d", got.StatusCode)
			}
			for _, path := range []string{"/trial", "/"} {
				found := personOf.FindStringSubmatch(b.get(path).body)
				if found == nil || found[1] == "" {
					t.Fatalf("%s: no id of %v", path, who)
				}
				own = append(own, found[1])
			}
		}
		for _, id := range own {
			if id != own[0] {
				t.Errorf("%v has several ids: %q", who, own)
			}
		}
		if before, taken := ids[own[0]]; taken {
			t.Errorf("%v has the id of %s", who, before)
		}
		ids[own[0]] = who.account + " " + who.member
	}
	if got := w.browser().get("/sign-in").body; strings.Contains(got, "data-person") {
		t.Error("the page for strangers names a person")
	}
}
