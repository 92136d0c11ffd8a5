//go:build unix

package browser_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/secret"
	"unitask/internal/task"
	"unitask/test/fixture"
	"unitask/test/harness"
)

// page is one that the console answers GET with.
type page struct {
	Path      string `json:"path"` // below the root, as the route has it
	Operators bool   `json:"operators"`
}

// TestAccess: each page that the console has is judged for each role, in both themes and at two widths.
func TestAccess(t *testing.T) {
	s := harness.NewServer(t)
	s.Config = "webhook_http: true\nwebhook_allow: [127.0.0.1]\n" + harness.NewSupplier(t).Config()
	run(t, "access.mjs", s, func(admin *client.Admin) any {
		links := map[account.Role]string{}
		for _, role := range []account.Role{account.RoleMember, account.RoleAdmin, account.RoleOperator} {
			name := map[account.Role]string{account.RoleMember: "Mary Shelley", account.RoleAdmin: "Grace Hopper", account.RoleOperator: "Ada Lovelace"}[role]
			links[role] = fixture.Must(admin.Invite(t.Context(), home, api.Invite{Member: name, Role: string(role)}))(t).URL
		}
		return map[string]any{"links": links, "pages": consolePages(t), "values": objects(t, s.Base, admin)}
	})
	if t.Failed() {
		t.Log(s.Warnings())
	}
}

// objects makes one of each kind, and returns what stands for it in the addresses of its pages.
func objects(t *testing.T, base string, admin *client.Admin) map[string]string {
	t.Helper()
	key := fixture.Must(admin.CreateKey(t.Context(), api.KeyCreate{Name: "everything", Account: home, Mode: task.Test}))(t)
	c := fixture.Must(client.New(client.Config{BaseURL: base, Key: func(context.Context) (secret.Value, error) { return secret.New(key.Secret), nil }}))(t)
	hook := fixture.Must(c.CreateWebhook(t.Context(), api.WebhookCreate{URL: "http://127.0.0.1:9/hook", Description: "of the till"}))(t)
	made := map[string]string{
		"account": fixture.Must(admin.GetAccount(t.Context(), home))(t).ID, "key_id": key.ID, "webhook_id": hook.ID,
		"supplier": harness.SupplierName, "file": "style.css",
	}
	for name, body := range map[string]string{
		"task_id": `{"capability": "text.chat", "input": {"prompt": "say # A heron\n\n- stands\n\n| a | b |\n|---|---|\n| 1 | 2 |"}}`,
		"picture": `{"capability": "image.generate", "input": {"prompt": "a heron"}, "parameters": {"size": "256x256"}}`,
		"failed":  `{"capability": "image.generate", "input": {"prompt": "@failjob:INTERNAL"}}`,
	} {
		done, err := c.Finish(t.Context(), []byte(body), client.CreateOptions{}, func(api.Task) {})
		if done.ID == "" {
			t.Fatal(err)
		}
		made[name] = done.ID
	}
	for _, name := range []string{"canceled", "running"} {
		open, err := c.Create(t.Context(), []byte(`{"capability": "image.generate", "input": {"prompt": "a heron @slow:600s"}}`), client.CreateOptions{})
		if err == nil && name == "canceled" {
			_, err = c.Cancel(t.Context(), open.Task.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		made[name] = open.Task.ID
	}
	colours(t, base, admin)
	return made
}

// colours makes keys that are revoked and expiring, and some with budgets that are nearly and wholly used up.
func colours(t *testing.T, base string, admin *client.Admin) {
	t.Helper()
	create := func(name string, mode task.Mode) api.Key {
		return fixture.Must(admin.CreateKey(t.Context(), api.KeyCreate{Name: name, Account: home, Mode: mode}))(t)
	}
	fixture.Must(admin.RevokeKey(t.Context(), create("of a colleague who left", task.Test).ID))(t)
	fixture.Must(admin.RotateKey(t.Context(), create("of the old till", task.Test).ID, api.KeyRotate{OverlapSeconds: 3600}))(t)
	for name, percent := range map[string]task.Money{"nearly used up": 85, "used up": 100} {
		key := create(name, task.Live)
		c := fixture.Must(client.New(client.Config{BaseURL: base, Key: func(context.Context) (secret.Value, error) { return secret.New(key.Secret), nil }}))(t)
		done := fixture.Must(c.Finish(t.Context(), []byte(`{"capability": "text.chat", "input": {"prompt": "hello"}}`), client.CreateOptions{}, func(api.Task) {}))(t)
		budget := (fixture.Must(task.ParseMoney(done.Usage.Cost.Amount))(t)*100 + percent - 1) / percent
		limits := api.LimitsUpdate{Budget: new(budget.String()), BudgetPeriod: new("month")}
		fixture.Must(admin.UpdateKey(t.Context(), key.ID, api.KeyUpdate{Limits: &limits}))(t)
	}
}

// route is a line of the console's source that adds a page.
var route = regexp.MustCompile(`"GET (?:" ?\+ ?Root ?\+ ?")?(/[^"]*)"(.*)`)

// consolePages reads from the console's source which pages it has, so that a new one is judged as soon as it is there.
func consolePages(t *testing.T) (found []page) {
	t.Helper()
	files := fixture.Must(filepath.Glob("../../internal/server/console/*.go"))(t)
	all := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source := string(fixture.Must(os.ReadFile(name))(t))
		all += strings.Count(source, `"GET `)
		for _, one := range route.FindAllStringSubmatch(source, -1) {
			found = append(found, page{strings.TrimSuffix(one[1], "{$}"), strings.Contains(one[2], "forOperators(")})
		}
	}
	if len(found) != all || all < 20 {
		t.Fatalf("%d routes begin with GET, of which %d are understood: %v", all, len(found), found)
	}
	return found
}
