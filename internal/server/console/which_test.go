package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestAccountOfMany: of more than 200 accounts one is asked for by a text, on each page that has the choice, and a page
// doesn't grow with them.
func TestAccountOfMany(t *testing.T) {
	w := newWorld(t)
	operator := w.member("home", "operator")
	made := 1 // home
	grow := func(to int) {
		for ; made < to; made++ {
			fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: fmt.Sprintf("account %d", made)}))(t)
		}
	}
	const chosen, typed = `<select id="account" name="account">`, `<input id="account" name="account"`
	for _, path := range []string{"/tasks", "/usage", "/keys"} {
		grow(200)
		if page := operator.get(path).body; made == 200 && (!strings.Contains(page, chosen) || strings.Contains(page, typed)) {
			t.Errorf("%s of %d accounts: %s", path, made, page)
		}
	}
	grow(201)
	for _, path := range []string{"/tasks", "/usage", "/keys"} {
		page := operator.get(path + "?account=*").body
		if strings.Contains(page, chosen) || !strings.Contains(page, typed) || !strings.Contains(page, `value="*"`) || strings.Contains(page, "account 117") {
			t.Errorf("%s of all of %d accounts: %s", path, made, page)
		}
		if page := operator.get(path + "?account=account+117").body; !strings.Contains(page, `value="account 117"`) {
			t.Errorf("%s of one: %s", path, page)
		}
	}
	if page := w.member("account 7", "admin").get("/keys").body; strings.Contains(page, `name="account"`) {
		t.Errorf("a member may choose: %s", page)
	}
}

// TestAccountByAPart: a part of a name leads to the only account that has it, with the page's other choices, or to a page
// of those that do. An export, and a member, need the whole name.
func TestAccountByAPart(t *testing.T) {
	w := newWorld(t)
	operator := w.member("home", "operator")
	for _, name := range []string{"acme north", "acme south", "globex <b>"} {
		fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: name}))(t)
	}
	id := func(name string) string { return fixture.Must(w.operator.GetAccount(t.Context(), name))(t).ID }
	for from, want := range map[string]string{
		"/keys?account=SOUTH&mode=live&page=3":                                             "/console/keys?account=" + id("acme south") + "&mode=live",
		"/usage?account=+globex+&days=7":                                                   "/console/usage?account=" + id("globex <b>") + "&days=7",
		"/tasks?account=north&state=failed&cursor=" + task.NewID(task.PrefixTask, w.now()): "/console/tasks?account=" + id("acme north") + "&state=failed",
	} {
		page := operator.get(from)
		if got := page.Header.Get("Location"); page.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%s: %d at %s, want %s", from, page.StatusCode, got, want)
		}
	}
	page := operator.get("/tasks?account=acme&mode=live&per=100&cursor=" + task.NewID(task.PrefixTask, w.now()))
	for _, want := range []string{
		"2 accounts have “acme” in their names", `<input id="account" name="account"`, `value="acme"`,
		`<input type="hidden" name="mode" value="live"><input type="hidden" name="per" value="100">`,
		`href="?account=` + id("acme north") + `&amp;mode=live&amp;per=100"`, `href="?account=` + id("acme south") + `&amp;mode=live&amp;per=100"`,
	} {
		if page.StatusCode != http.StatusOK || !strings.Contains(page.body, want) {
			t.Errorf("several: %d, lacks %s: %s", page.StatusCode, want, page.body)
		}
	}
	if page := operator.get("/usage?account=%3Cb%3Ex"); page.StatusCode != http.StatusNotFound || !strings.Contains(page.body, "No account has “&lt;b&gt;x”") {
		t.Errorf("no account: %d %s", page.StatusCode, page.body)
	}
	if page := operator.get("/usage/export?format=csv&account=south"); page.StatusCode != http.StatusNotFound {
		t.Errorf("an export by a part: %d", page.StatusCode)
	}
	member := w.member("acme north", "admin")
	for _, path := range []string{"/tasks", "/usage", "/keys"} {
		for _, typed := range []string{"globex", "acme", "acme+n"} {
			if page := member.get(path + "?account=" + typed); page.StatusCode != http.StatusNotFound || strings.Contains(page.body, "acme south") {
				t.Errorf("%s of %s for a member: %d %s", path, typed, page.StatusCode, page.body)
			}
		}
	}
	for i := range 60 {
		fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: fmt.Sprintf("shop %d", i)}))(t)
	}
	many := operator.get("/keys?account=shop").body
	if !strings.Contains(many, "60 accounts have") || strings.Count(many, `href="?account=`) != 50 || !strings.Contains(many, "10 more fit") {
		t.Errorf("many: %s", many)
	}
}
