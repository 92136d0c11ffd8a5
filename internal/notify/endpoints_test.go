package notify_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/notify"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

var holder = notify.Holder{Scope: scope, KeyID: "key_1"}

func newEndpoints(t *testing.T, s notify.Store, allow ...string) *notify.Endpoints {
	t.Helper()
	f, err := artifact.NewFetcher(artifact.FetcherConfig{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	return notify.New(notify.Config{Store: s, Secret: service, Dial: f.Dialer(), Guard: f, Node: "node_1"})
}

// TestCreateRefuses: an endpoint that isn't public https, or tells of what isn't the key's, is a clear error.
func TestCreateRefuses(t *testing.T) {
	d := newEndpoints(t, newFakeStore(), "10.1.2.3")
	images := notify.Holder{Scope: scope, Scopes: []string{"image.*", "webhooks"}}
	tests := []struct {
		name  string
		who   notify.Holder
		req   api.WebhookCreate
		field string
	}{
		{"nothing", holder, api.WebhookCreate{}, "url"},
		{"http", holder, api.WebhookCreate{URL: "http://example.com/"}, "url"},
		{"another scheme", holder, api.WebhookCreate{URL: "ftp://example.com/"}, "url"},
		{"a password", holder, api.WebhookCreate{URL: "https://a:b@example.com/"}, "url"},
		{"a fragment", holder, api.WebhookCreate{URL: "https://example.com/#a"}, "url"},
		{"no host", holder, api.WebhookCreate{URL: "https:///a"}, "url"},
		{"loopback", holder, api.WebhookCreate{URL: "https://127.0.0.1/"}, "url"},
		{"the machine's name", holder, api.WebhookCreate{URL: "https://localhost/"}, "url"},
		{"metadata", holder, api.WebhookCreate{URL: "https://169.254.169.254/latest"}, "url"},
		{"loopback of IPv6", holder, api.WebhookCreate{URL: "https://[::1]/"}, "url"},
		{"private", holder, api.WebhookCreate{URL: "https://10.1.2.4/"}, "url"},
		{"too long", holder, api.WebhookCreate{URL: "https://example.com/" + strings.Repeat("a", 2048)}, "url"},
		{"a listener's", holder, api.WebhookCreate{URL: "https://example.com/", Listener: true}, "url"},
		{"a state under way", holder, api.WebhookCreate{URL: "https://example.com/", States: []task.State{task.Running}}, "states"},
		{"no pattern", holder, api.WebhookCreate{URL: "https://example.com/", Capabilities: []string{"image*"}}, "capabilities"},
		{"beyond the key", images, api.WebhookCreate{URL: "https://example.com/", Capabilities: []string{"text.chat"}}, "capabilities"},
		{"all beyond the key", images, api.WebhookCreate{URL: "https://example.com/", Capabilities: []string{"*"}}, "capabilities"},
		{"a long description", holder, api.WebhookCreate{URL: "https://example.com/", Description: strings.Repeat("ä", 257)}, "description"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := d.Create(t.Context(), tt.who, tt.req)
			e := fault.From(err)
			if err == nil || e.Code != fault.InvalidRequest || len(e.Details) == 0 || e.Details[0].Field != tt.field {
				t.Errorf("%v, want INVALID_REQUEST about %s", err, tt.field)
			}
			if err != nil && tt.req.URL != "" && strings.Contains(err.Error(), tt.req.URL) {
				t.Errorf("the address is repeated: %v", err)
			}
		})
	}
	for _, url := range []string{"https://10.1.2.3:9000/", "https://hooks.example.com/a?b=c", "https://[2606:4700::1111]/"} {
		if _, err := d.Create(t.Context(), holder, api.WebhookCreate{URL: url}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestRefusedAddress: an address that can't be told of ends says why, the way out, and no more of itself than its port
// and host.
func TestRefusedAddress(t *testing.T) {
	const listen = "a program on your own machine is told by: unitask webhooks listen --forward URL, and the operator may allow "
	open := ", and 80, 443, 8080 and 8443 are open; the operator may allow it (the setting webhook_allow may hold "
	for _, tt := range []struct {
		url, want string
		http      bool
		allow     []string
	}{
		{url: "http://localhost:3000/hooks", want: "url must be an https address; " + listen + "http (the setting webhook_http)"},
		{url: "http://localhost:3000/hooks", http: true, want: "url must be at a public address; " + listen + "others (the setting webhook_allow may hold localhost:3000)"},
		{url: "http://localhost:8491/hooks?a=b", http: true, allow: []string{"localhost"}, want: "url has the port 8491" + open + "localhost:8491)"},
		{url: "http://localhost:8491/hooks", http: true, allow: []string{"localhost:8491"}},
		{url: "http://localhost:8491/hooks", http: true, allow: []string{"127.0.0.1"}},
		{url: "http://localhost/hooks", http: true, allow: []string{"localhost"}},
		{url: "https://example.com:22/z", want: "url has the port 22" + open + "example.com:22)"},
		{url: "https://8.8.8.8:22/z", want: "url has the port 22" + open + "8.8.8.8:22)"},
		{url: "https://example.com:8443/z"},
		{url: "https://10.1.2.3:22/z", want: "url must be at a public address; " + listen + "others (the setting webhook_allow may hold 10.1.2.3:22)"},
		{url: "https://[fd00::1]/z", want: "url must be at a public address; " + listen + "others (the setting webhook_allow may hold [fd00::1]:443)"},
	} {
		d := newEndpoints(t, newFakeStore(), tt.allow...)
		d.HTTP = tt.http
		got := ""
		if _, err := d.Create(t.Context(), holder, api.WebhookCreate{URL: tt.url}); err != nil {
			got = fault.From(err).Message
		}
		if got != tt.want {
			t.Errorf("%s with %q allowed: %q, want %q", tt.url, tt.allow, got, tt.want)
		}
	}
}

// TestScopedKey: a key of some capabilities makes endpoints of these, and sees no other's.
func TestScopedKey(t *testing.T) {
	d := newEndpoints(t, newFakeStore())
	images := notify.Holder{Scope: scope, Scopes: []string{"image.*", "webhooks"}}
	mine, err := d.Create(t.Context(), images, api.WebhookCreate{URL: "https://example.com/"})
	if err != nil || !cmp.Equal(mine.Capabilities, []string{"image.*"}) {
		t.Fatalf("%v %v", mine.Capabilities, err)
	}
	all, err := d.Create(t.Context(), holder, api.WebhookCreate{URL: "https://example.com/"})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := d.List(t.Context(), images)
	if err != nil || len(listed) != 1 || listed[0].ID != mine.ID || listed[0].Secret != "" {
		t.Errorf("%+v %v", listed, err)
	}
	other := notify.Holder{Scope: task.Scope{Account: "acct_2", Mode: task.Test}}
	for _, h := range []notify.Holder{images, other} {
		_, err := d.Get(t.Context(), h, all.ID)
		_, err1 := d.Update(t.Context(), h, all.ID, api.WebhookUpdate{Disabled: new(true)})
		_, err2 := d.Rotate(t.Context(), h, all.ID, api.WebhookRotate{})
		_, err3 := d.Deliveries(t.Context(), h, store.DeliveryQuery{Scope: h.Scope, Endpoint: all.ID})
		_, err4 := d.Fetch(t.Context(), h, all.ID, 0)
		for i, err := range []error{err, err1, err2, err3, err4, d.Replay(t.Context(), h, all.ID, "e"), d.Delete(t.Context(), h, all.ID)} {
			if fault.CodeOf(err) != fault.NotFound {
				t.Errorf("action %d: %v", i, err)
			}
		}
	}
	if _, err := d.Update(t.Context(), images, mine.ID, api.WebhookUpdate{Capabilities: &[]string{"*"}}); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("widened: %v", err)
	}
}

// TestKeyOfWebhooks: a key with the scope webhooks alone, of which no capability is, makes endpoints of all and sees each,
// with all of its deliveries.
func TestKeyOfWebhooks(t *testing.T) {
	f := newFakeStore()
	d := newEndpoints(t, f)
	alone := notify.Holder{Scope: scope, Scopes: []string{"webhooks"}}
	for _, capabilities := range [][]string{nil, {"*"}, {"text.chat", "image.*"}} {
		made, err := d.Create(t.Context(), alone, api.WebhookCreate{URL: "https://example.com/", Capabilities: capabilities})
		if err != nil || !slices.Equal(made.Capabilities, capabilities) {
			t.Errorf("%v: %v %v", capabilities, made.Capabilities, err)
		}
	}
	all, err := d.Create(t.Context(), holder, api.WebhookCreate{URL: "https://example.com/"})
	if err != nil {
		t.Fatal(err)
	}
	f.add(all.ID, "task_1.0")
	if listed, err := d.List(t.Context(), alone); err != nil || len(listed) != 4 {
		t.Errorf("%d listed, %v", len(listed), err)
	}
	if got, err := d.Deliveries(t.Context(), alone, store.DeliveryQuery{Scope: scope, Endpoint: all.ID}); err != nil || len(got.Data) != 1 {
		t.Errorf("%d deliveries, %v", len(got.Data), err)
	}
}

// TestCapabilitiesMatch: an endpoint tells of capabilities that there are. Patterns that it had before, and those of the
// key that makes it, are taken also if their capability is gone.
func TestCapabilitiesMatch(t *testing.T) {
	d := newEndpoints(t, newFakeStore())
	old := notify.Holder{Scope: scope, Scopes: []string{"music.compose", "webhooks"}}
	made, err := d.Create(t.Context(), holder, api.WebhookCreate{URL: "https://example.com/", Capabilities: []string{"music.compose"}})
	if err != nil {
		t.Fatal(err)
	}
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	d.DirectoryFunc = func() *catalog.Catalog { return directory }
	_, err = d.Create(t.Context(), holder, api.WebhookCreate{URL: "https://example.com/", Capabilities: []string{"image.*", "text.caht"}})
	const want = "capabilities hold text.caht, which matches no capability; perhaps text.chat is meant"
	if got := fault.From(err); err == nil || got.Code != fault.InvalidRequest || got.Message != want {
		t.Errorf("created: %v, want %s", err, want)
	}
	if _, err := d.Update(t.Context(), holder, made.ID, api.WebhookUpdate{Capabilities: &[]string{"text.caht"}}); err == nil || fault.From(err).Message != want {
		t.Errorf("updated: %v, want %s", err, want)
	}
	for _, u := range []api.WebhookUpdate{{Description: new("kept")}, {Capabilities: &[]string{"music.compose", "text.*"}}, {Capabilities: &[]string{"*"}}} {
		if _, err := d.Update(t.Context(), holder, made.ID, u); err != nil {
			t.Errorf("updated by %+v: %v", u, err)
		}
	}
	if _, err := d.Create(t.Context(), old, api.WebhookCreate{URL: "https://example.com/"}); err != nil {
		t.Errorf("a key's own: %v", err)
	}
}

// TestMost: a scope has a bounded number of endpoints.
func TestMost(t *testing.T) {
	d := newEndpoints(t, newFakeStore())
	for range webhook.MaxEndpoints {
		if _, err := d.Create(t.Context(), holder, api.WebhookCreate{Listener: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Create(t.Context(), holder, api.WebhookCreate{Listener: true}); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error(err)
	}
}

// TestRotate: each rotation has another secret, and says until when the old one signs; until then it is refused unless
// it is to end both.
func TestRotate(t *testing.T) {
	f := newFakeStore()
	d := newEndpoints(t, f)
	made, err := d.Create(t.Context(), holder, api.WebhookCreate{URL: "https://example.com/"})
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := d.Rotate(t.Context(), holder, made.ID, api.WebhookRotate{})
	if err != nil || rotated.Secret == made.Secret || rotated.OldSecretUntil == nil {
		t.Errorf("%v %v", rotated.OldSecretUntil, err)
	}
	if want := webhook.DeriveSecret(service, made.ID, 2).Reveal(); rotated.Secret != want {
		t.Error("the secret isn't that of the second generation")
	}
	for _, keep := range []*int64{nil, new(int64(60))} { // the first secret was promised a day
		_, err := d.Rotate(t.Context(), holder, made.ID, api.WebhookRotate{KeepOldForSeconds: keep})
		e := fault.From(err)
		if err == nil || e.Code != fault.InvalidRequest || e.Aspect != fault.AspectConflict {
			t.Fatalf("while the old secret signs: %v", err)
		}
		if at, err := time.Parse(time.RFC3339, e.Details[1].Message); err != nil || at.Before(rotated.OldSecretUntil.Time) {
			t.Errorf("%+v %v, want %v or a second later", e.Details, err, rotated.OldSecretUntil)
		}
	}
	if e, err := f.GetEndpoint(t.Context(), scope, made.ID); err != nil || len(notify.Secrets(service, e, time.Now())) != 2 || e.Generation != 2 {
		t.Errorf("after a refusal: %+v %v", e, err)
	}
	at, err := d.Rotate(t.Context(), holder, made.ID, api.WebhookRotate{KeepOldForSeconds: new(int64(0))})
	if err != nil || at.OldSecretUntil != nil {
		t.Errorf("%v %v", at.OldSecretUntil, err)
	}
	if later, err := d.Rotate(t.Context(), holder, made.ID, api.WebhookRotate{}); err != nil || later.OldSecretUntil == nil {
		t.Errorf("once no old one signs: %v", err)
	}
	if _, err := d.Rotate(t.Context(), holder, made.ID, api.WebhookRotate{KeepOldForSeconds: new(int64(31 * 24 * 3600))}); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error(err)
	}
}

// TestListener: a listener gets its events, the claim tells the outcome, and without one an event comes again.
func TestListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		d := newEndpoints(t, f)
		made, err := d.Create(t.Context(), holder, api.WebhookCreate{Listener: true})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 5 {
			f.add(made.ID, fmt.Sprint("e", n))
		}
		first, err := d.Fetch(t.Context(), holder, made.ID, 0)
		if err != nil || len(first) != 3 {
			t.Fatalf("%d events, %v", len(first), err)
		}
		end := func(e api.WebhookEvent, event string, status int) error {
			return d.End(t.Context(), holder, made.ID, event, api.DeliveryOutcome{Claim: e.Claim, Status: status})
		}
		if err := end(first[0], "e1", 200); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("another's claim: %v", err)
		}
		if err := end(first[0], "e0", 204); err != nil {
			t.Fatal(err)
		}
		if err := end(first[1], "e1", 0); err != nil {
			t.Fatal(err)
		}
		next, err := d.Fetch(t.Context(), holder, made.ID, time.Second)
		if err != nil || len(next) != 2 || next[0].ID != "e3" {
			t.Errorf("%v, %v", next, err)
		}
		time.Sleep(time.Minute)
		if err := end(next[0], "e3", 200); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("a claim that is over: %v", err)
		}
		again, err := d.Fetch(t.Context(), holder, made.ID, 0)
		if err != nil || len(again) != 3 || again[0].ID != "e1" {
			t.Errorf("%v, %v", again, err)
		}
		if s := f.states(); s["e0"] != webhook.Delivered || s["e1"] != webhook.Waiting {
			t.Errorf("%v", s)
		}
		start := time.Now()
		time.AfterFunc(time.Second, d.Close)
		if _, err := d.Fetch(t.Context(), holder, made.ID, time.Hour); err == nil || time.Since(start) > 2*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// TestTrial: a test event is sent once, signed, and its answer returned.
func TestTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.endpoint("host", status(http.StatusTeapot))
		id := "whe_06gztwr81bcb6csfsxswat9e1m"
		if err := w.PutEndpoint(t.Context(), webhook.Endpoint{ID: id, Scope: scope, URL: "http://host/", Generation: 1}); err != nil {
			t.Fatal(err)
		}
		d := notify.New(notify.Config{Store: w, Secret: service, Dial: w.dial, HTTP: true})
		got, err := d.Test(t.Context(), holder, id)
		if err != nil || got.Delivered || got.Attempt.Status == nil || *got.Attempt.Status != http.StatusTeapot {
			t.Errorf("%+v %v", got, err)
		}
		sent := w.requests("host")
		if len(sent) != 1 || webhook.Verify(sent[0].Header, time.Now(), sent[0].body, webhook.DeriveSecret(service, id, 1)) != nil {
			t.Errorf("%v", sent)
		}
		if !strings.HasPrefix(string(sent[0].body), `{"type":"webhook.test",`) {
			t.Errorf("%s", sent[0].body)
		}
		d.Close()
	})
}

// TestNarrowed: an endpoint that was given fewer capabilities tells a key of these of no other, neither by deliveries that
// wait nor by earlier ones.
func TestNarrowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := newEndpoints(t, w)
		w.endpoint("good", status(http.StatusNoContent))
		w.sender.Start()
		defer w.stop()
		told := task.NewID(task.PrefixTask, time.Now()) + ".0"
		w.add("whe_good", told)
		synctest.Wait()
		if _, err := w.UpdateEndpoint(t.Context(), "whe_good", func(e *webhook.Endpoint) error {
			e.Capabilities = []string{"image.*"}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := w.Replay(t.Context(), scope, "whe_good", told); err != nil {
			t.Fatal(err)
		}
		w.Ring(store.TopicDeliveries)
		synctest.Wait()
		if got := w.requests("good"); len(got) != 1 || w.states()[told] != webhook.Canceled {
			t.Errorf("%d requests, %v, want the first one alone", len(got), w.states())
		}
		listener, err := d.Create(t.Context(), holder, api.WebhookCreate{Listener: true})
		if err != nil {
			t.Fatal(err)
		}
		w.add(listener.ID, "task_2.0")
		if _, err := d.Update(t.Context(), holder, listener.ID, api.WebhookUpdate{Capabilities: &[]string{"image.*"}}); err != nil {
			t.Fatal(err)
		}
		images := notify.Holder{Scope: scope, Scopes: []string{"image.*", "webhooks"}}
		if got, err := d.Fetch(t.Context(), images, listener.ID, 0); err != nil || len(got) != 0 || w.states()["task_2.0"] != webhook.Canceled {
			t.Errorf("a listener hears of %v, %v", got, err)
		}
		for _, tt := range []struct {
			who  notify.Holder
			want int
		}{{images, 0}, {holder, 1}} {
			list, err := d.Deliveries(t.Context(), tt.who, store.DeliveryQuery{Scope: scope, Endpoint: listener.ID})
			if err != nil || len(list.Data) != tt.want {
				t.Errorf("%v sees %d deliveries, %v", tt.who.Scopes, len(list.Data), err)
			}
		}
	})
}
