package console_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/fixture"
)

type paletteCommand struct{ Text, Kind, Href, Act string }

// commands returns what the palette offers.
func (b *browser) commands() []paletteCommand {
	b.w.t.Helper()
	got := b.get("/commands")
	if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != "application/json" {
		b.w.t.Fatalf("%d %v %s", got.StatusCode, got.Header, got.body)
	}
	return decode[[]paletteCommand](b.w.t, got)
}

// TestPaletteOffersWhatARoleHas: each role is offered its pages, and each of these is there.
func TestPaletteOffersWhatARoleHas(t *testing.T) {
	w := newWorld(t)
	fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: "globex"}))(t)
	for role, want := range map[string]struct{ has, lacks []string }{
		"member":   {[]string{"Overview", "Tasks", "New key", "New webhook", "Keep requests", "Sign out"}, []string{"People", "Suppliers", "Accounts", "globex", "Usage of all accounts", "All accounts", "All webhooks"}},
		"admin":    {[]string{"Overview", "People", "New key"}, []string{"Suppliers", "Accounts", "globex", "Keys of all accounts"}},
		"operator": {[]string{"All accounts", "Own account", "Suppliers", "Accounts", "All webhooks", "globex", "Tasks of all accounts"}, []string{"People", "Overview"}},
	} {
		b := w.member("acme", role)
		var texts []string
		for _, c := range b.commands() {
			texts = append(texts, c.Text)
			if (c.Href == "") == (c.Act == "") {
				t.Errorf("%s: %+v leads nowhere or twice", role, c)
			}
			if c.Href == "" {
				continue
			}
			if got := b.get(w.base + c.Href); got.StatusCode != http.StatusOK {
				t.Errorf("%s: %s leads to %s: %d", role, c.Text, c.Href, got.StatusCode)
			}
		}
		for _, text := range want.has {
			if !slices.Contains(texts, text) {
				t.Errorf("%s isn't offered %q: %q", role, text, texts)
			}
		}
		for _, text := range want.lacks {
			if slices.Contains(texts, text) {
				t.Errorf("%s is offered %q", role, text)
			}
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, "text.chat") }) {
			t.Errorf("%s is offered no trial: %q", role, texts)
		}
	}
}

// TestGoTo: an id leads to its page, an account's name to the account for operators, and other texts to the lookup.
func TestGoTo(t *testing.T) {
	w := newWorld(t)
	member, other, operator := w.member("acme", "member"), w.member("globex", "member"), w.member("home", "operator")
	done := member.run(chatTask)
	k := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "web", Account: "acme", Mode: task.Test}))(t)
	acme := fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t)
	hook := "whe_" + k.ID[4:]
	for _, c := range []struct {
		who      *browser
		to, want string
	}{
		{member, done.ID, "/tasks/" + done.ID},
		{member, " " + done.ID + " ", "/tasks/" + done.ID},
		{other, done.RequestID, "/lookup?id=" + done.RequestID},
		{other, done.ID, "/lookup?id=" + done.ID},
		{operator, done.ID, "/tasks/" + done.ID},
		{member, k.ID, "/keys/" + k.ID},
		{member, hook, "/webhooks/" + hook},
		{operator, "acme", "/accounts/" + acme.ID},
		{operator, acme.ID, "/accounts/" + acme.ID},
		{operator, "no account", "/lookup?id=no+account"},
		{member, "globex", "/lookup?id=globex"},
		{member, acme.ID, "/lookup?id=" + acme.ID},
		{member, "//evil.example", "/lookup?id=%2F%2Fevil.example"},
		{operator, "", "/lookup?id="},
	} {
		if got := c.who.get("/go?" + url.Values{"to": {c.to}}.Encode()); got.Header.Get("Location") != "/console"+c.want {
			t.Errorf("%q leads to %q, want %q", c.to, got.Header.Get("Location"), c.want)
		}
	}
	if got := other.get("/keys/" + k.ID); got.StatusCode != http.StatusNotFound {
		t.Errorf("another account's key: %d", got.StatusCode)
	}
}

// TestSecretInAddress: a key that somebody pastes where pages are found is refused with how to look for it. It stands on
// no page, and in no address, cookie or log.
func TestSecretInAddress(t *testing.T) {
	w := newWorld(t)
	secret := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "web", Account: "acme", Mode: task.Test}))(t).Secret
	for name, b := range map[string]*browser{"an operator": w.member("home", "operator"), "a member": w.member("acme", "member"), "a stranger": w.browser()} {
		for _, path := range []string{"/go?to=", "/routes?key=", "/keys?name=", "/lookup?id=", "/tasks?error="} {
			got := b.get(path + "%20" + url.QueryEscape(secret))
			if got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "That is a secret: look for the key by its id (key_…) or its last characters.") {
				t.Errorf("%s, %s: %d %s", name, path, got.StatusCode, got.body)
			}
			if strings.Contains(got.body, secret) || strings.Contains(strings.Join(slices.Concat(got.Header["Location"], got.Header["Set-Cookie"]), " "), secret) {
				t.Errorf("%s, %s: it answers with the secret", name, path)
			}
			if in := strings.Contains(got.body, `/console/">Overview</a>`); in == (name == "a stranger") {
				t.Errorf("%s, %s: the way on is another's: %s", name, path, got.body)
			}
		}
	}
	if strings.Contains(w.log.String(), secret) {
		t.Error("the secret is in the log")
	}
}
