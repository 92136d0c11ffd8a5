package console_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/fixture"
)

const chatTask = `{"capability":"text.chat","input":{"prompt":"hello"}}`

// starred adds an account with the name that stands for all accounts.
func (w *world) starred() {
	w.t.Helper()
	if err := w.store.PutAccount(w.t.Context(), account.Account{ID: task.NewID(task.PrefixAccount, w.now()), Name: "*", CreatedAt: w.now()}); err != nil {
		w.t.Fatal(err)
	}
}

// TestUsageOfAllAccounts: an operator sees their sums together and apart, on the page and in the export.
func TestUsageOfAllAccounts(t *testing.T) {
	w := newWorld(t)
	operator, acme, globex := w.member("home", "operator"), w.member("acme", "member"), w.member("globex", "member")
	acme.run(chatTask)
	globex.run(chatTask)
	globex.run(`{"capability":"text.chat","input":{"prompt":"@fail:INVALID_REQUEST"}}`)
	page := operator.get("/usage?account=*").body
	for _, want := range []string{
		`<option value="*" selected>All accounts`, `<dd>2</dd><dd class="note">1 failed, 0 canceled</dd>`, "<h2>Top accounts</h2>",
		"Cost by day and account", `<td>acme</td>`, `<td>globex</td>`, `account=acme`,
	} {
		if want == "account=acme" {
			want = "account=" + fixture.Must(w.operator.GetAccount(t.Context(), "acme"))(t).ID
		}
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	rows := fixture.Must(csv.NewReader(strings.NewReader(operator.get("/usage/export?format=csv&days=7&account=*").body)).ReadAll())(t)
	var got []string
	for _, row := range rows[1:] {
		got = append(got, strings.Join([]string{row[1], row[2], row[3], row[5], row[6], row[7]}, " "))
	}
	want := []string{"acme test text.chat somebody in the console 1 0", "globex test text.chat somebody in the console 1 1"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the export has %q, want %q", got, want)
	}
	one := operator.get("/usage?account=acme").body
	if strings.Contains(one, "Top accounts") || strings.Contains(one, "1 failed") || !strings.Contains(one, `<option selected>acme`) {
		t.Errorf("the usage of one account has that of others: %s", one)
	}
}

// TestAllAccountsAreOperators: a member, of an account named like all too, sees the own keys and usage alone.
func TestAllAccountsAreOperators(t *testing.T) {
	w := newWorld(t)
	w.starred()
	secret := func(name, of string) {
		fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: name, Account: of, Mode: task.Test}))(t)
	}
	acme := w.member("acme", "member")
	acme.run(chatTask)
	secret("theirs", "acme")
	secret("stars", "*")
	for _, role := range []string{"member", "admin"} {
		star := w.member("*", role)
		for _, query := range []string{"", "?account=*"} {
			if got := star.get("/usage" + query).body; strings.Contains(got, "Top accounts") || !strings.Contains(got, "Nothing was used.") {
				t.Errorf("%s: usage%s has that of others: %s", role, query, got)
			}
			if got := star.get("/keys" + query).body; strings.Contains(got, "theirs") || !strings.Contains(got, "stars") || strings.Contains(got, `name="account"`) {
				t.Errorf("%s: keys%s has those of others: %s", role, query, got)
			}
			if got := star.get("/usage/export" + strings.Replace(query+"&format=csv", "&", "?", 1-min(1, len(query)))); strings.Count(got.body, "\n") != 1 {
				t.Errorf("%s: the export%s has %s", role, query, got.body)
			}
		}
		for _, path := range []string{"/usage?account=*", "/usage/export?format=csv&account=*", "/keys?account=*"} {
			if got := w.member("globex", role).get(path); got.StatusCode != http.StatusNotFound {
				t.Errorf("%s of another account, %s: %d", role, path, got.StatusCode)
			}
		}
	}
}

var keyNamed = regexp.MustCompile(`href="/console/keys/key_\w{26}">([^<]*)<`)

// keysListed returns the names of the keys on a page of the list.
func (b *browser) keysListed(query string) (names []string) {
	b.w.t.Helper()
	page := b.get("/keys" + query)
	if page.StatusCode != http.StatusOK {
		b.w.t.Fatalf("%s: %d %s", query, page.StatusCode, page.body)
	}
	for _, found := range keyNamed.FindAllStringSubmatch(page.body, -1) {
		names = append(names, found[1])
	}
	return names
}

// TestKeysOfAllAccounts: an operator pages through the keys of all accounts both ways, and filters them.
func TestKeysOfAllAccounts(t *testing.T) {
	w := newWorld(t)
	operator := w.member("home", "operator")
	var all []string // the newest first
	var ids []string
	for i := range 2*25 + 3 {
		k := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{
			Name: fmt.Sprintf("key %d", i), Account: []string{"acme", "globex"}[i%2], Mode: []task.Mode{task.Live, task.Test}[i%2],
		}))(t)
		all, ids = append([]string{k.Name}, all...), append(ids, k.ID)
	}
	at := "?account=*"
	var back []string
	for i, want := range [][]string{all[:25], all[25:50], all[50:]} {
		page := operator.get("/keys" + at)
		if got := operator.keysListed(at); !slices.Equal(got, want) {
			t.Fatalf("page %d has %v, want %v", i, got, want)
		}
		back = append(back, pagerLink(page.body, "prev"))
		if at = pagerLink(page.body, "next"); (at == "") != (i == 2) {
			t.Fatalf("page %d leads on to %q", i, at)
		}
	}
	if got := operator.keysListed(back[2]); back[0] != "" || !slices.Equal(got, all[25:50]) {
		t.Errorf("back from the last: %v", got)
	}
	fixture.Must(w.operator.RevokeKey(t.Context(), ids[52]))(t)
	fixture.Must(w.operator.UpdateKey(t.Context(), ids[51], api.KeyUpdate{ExpiresInSeconds: new(int64(3600))}))(t)
	for query, want := range map[string][]string{
		"&per=100":                       append(slices.Clone(all[1:]), all[0]), // closed ones last
		"&status=revoked":                {"key 52"},
		"&status=expiring":               {"key 51"},
		"&status=expired":                nil,
		"&name=KEY+51":                   {"key 51"},
		"&name=" + ids[50]:               {"key 50"},
		"&name=key+5&mode=live":          {"key 50", "key 52"},
		"&name=key+5&status=open":        {"key 51", "key 50", "key 5"},
		"&name=key+5&page=9":             {"key 51", "key 50", "key 5", "key 52"},
		"&mode=operator":                 nil,
		"&name=key+5&mode=live&page=999": {"key 50", "key 52"},
	} {
		if got := operator.keysListed("?account=*" + query); !slices.Equal(got, want) {
			t.Errorf("%s lists %v, want %v", query, got, want)
		}
	}
	if got := operator.keysListed("?account=globex&per=100"); len(got) != 26 {
		t.Errorf("%d keys of one account", len(got))
	}
	for _, query := range []string{"?status=odd", "?mode=odd", "?page=0", "?page=x", "?per=1000", "?colour=red"} {
		if got := operator.get("/keys" + query); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, got.StatusCode)
		}
	}
	if page := operator.get("/keys?account=*"); !strings.Contains(page.body, "<td>acme</td>") || !strings.Contains(page.body, "1 to 25 of 53") {
		t.Errorf("the page doesn't name the accounts or the places: %s", page.body)
	}
}

// TestManyKeys: a page of 2,000 keys of 20 accounts has 25 of them.
func TestManyKeys(t *testing.T) {
	w := newWorld(t)
	operator := w.member("home", "operator")
	for i := range 20 {
		fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: fmt.Sprintf("account %d", i)}))(t)
	}
	for i, a := range slices.Repeat(fixture.Must(w.operator.ListAccounts(t.Context()))(t)[:20], 100) {
		k := account.Key{ID: task.NewID(task.PrefixKey, w.now()), Account: a.ID, Name: fmt.Sprintf("key %d", i), Mode: task.Test, CreatedAt: w.now()}
		k.Hash[0], k.Hash[1] = byte(i), byte(i>>8)
		if err := w.store.PutKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	page := operator.get("/keys?account=*&page=40")
	if got := len(keyNamed.FindAllString(page.body, -1)); got != 25 || !strings.Contains(page.body, "976 to 1,000 of 2,000") {
		t.Errorf("the page has %d keys: %s", got, page.body)
	}
}

// TestBudgetsOfAPage: a list of keys, and the page of one, read the counters of the budgets that they show; the keys to
// choose from in the list of tasks read none.
func TestBudgetsOfAPage(t *testing.T) {
	w := newWorld(t)
	operator := w.member("home", "operator")
	var last api.Key
	for i := range 60 {
		last = fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{
			Name: fmt.Sprintf("key %d", i), Account: "acme", Mode: task.Live, Limits: api.Limits{Budget: "1", BudgetPeriod: "day"},
		}))(t)
	}
	for path, want := range map[string]int64{
		"/keys?account=*": 25, "/keys?account=*&page=3": 10, "/keys?account=*&per=100": 60, "/keys?account=*&name=key+5": 11,
		"/keys?account=acme": 25, "/keys/" + last.ID: 1, "/tasks?account=acme": 0,
	} {
		before := w.reads.counters.Load()
		page := operator.get(path)
		if got := w.reads.counters.Load() - before; page.StatusCode != http.StatusOK || got != want {
			t.Errorf("%s: %d after %d reads of counters, want %d", path, page.StatusCode, got, want)
		}
		if got := strings.Count(page.body, `class="budget`); int64(got) < want {
			t.Errorf("%s shows %d budgets", path, got)
		}
	}
}

// TestPollsOfAllAccounts: the usage of all accounts is read anew less often than that of one.
func TestPollsOfAllAccounts(t *testing.T) {
	operator := newWorld(t).member("home", "operator")
	for path, want := range map[string]string{
		"/usage": `data-poll="10"`, "/usage?account=*": `data-poll="60"`, "/keys": `data-poll="10"`, "/keys?account=*": `data-poll="10"`,
	} {
		if body := operator.get(path).body; !strings.Contains(body, want) {
			t.Errorf("%s lacks %s", path, want)
		}
	}
}
