package server_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/gate"
	"unitask/internal/server"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// entrance is a way to the same handlers: by a key, or from a page by a session.
type entrance struct {
	name  string
	root  string                             // before the routes
	knock func(r *http.Request, m task.Mode) // puts on who calls
}

// knocking is one request of the table. Of its path, TASK stands for the last task that was made.
type knocking struct {
	name, method, path string
	mode               task.Mode // "": live
	idempotency        string
	body               string
	header             map[string]string
	want               int // the status
}

func creation(want int, name, idempotency, body string) knocking {
	return knocking{name: name, method: http.MethodPost, path: "/tasks", idempotency: idempotency, body: body, want: want}
}

func (k knocking) in(m task.Mode) knocking { k.mode = m; return k }

func (k knocking) with(name, value string) knocking {
	header := map[string]string{name: value}
	for n, v := range k.header {
		header[n] = v
	}
	k.header = header
	return k
}

func reading(want int, name, method, path string) knocking {
	return knocking{name: name, method: method, path: path, want: want}
}

// doorTables are tables of requests, each sent in order through both doors, for a pair of accounts of their own.
var doorTables = []struct {
	name     string
	limits   api.Limits // of each account
	defaults gate.Defaults
	requests []knocking
}{
	{
		name: "requests",
		requests: []knocking{
			reading(200, "the directory", http.MethodGet, "/capabilities"),
			reading(200, "the sandbox's directory", http.MethodGet, "/capabilities").in(task.Test),
			creation(200, "a task", "entrances-0001", chat("hello")),
			creation(200, "again", "entrances-0001", chat("hello")),
			creation(409, "another request", "entrances-0001", chat("good bye")),
			reading(200, "the task", http.MethodGet, "/tasks/TASK"),
			reading(200, "its states", http.MethodGet, "/tasks/TASK/timeline"),
			reading(404, "its input, which isn't kept", http.MethodGet, "/tasks/TASK/input"),
			reading(404, "in the other mode", http.MethodGet, "/tasks/TASK").in(task.Test),
			reading(200, "all tasks", http.MethodGet, "/tasks?limit=5"),
			reading(400, "a list that is wrong", http.MethodGet, "/tasks?state=lost"),
			reading(404, "an unknown task", http.MethodGet, "/tasks/task_06gztwr81bcb6csfsxswat9e1m"),
			creation(200, "an asynchronous one that fails", "entrances-0002", image("a fox")).with("Prefer", "wait=30"),
			creation(502, "a synchronous one that fails", "entrances-0003", chat("refuse")),
			creation(502, "it is reopened", "entrances-0003", chat("refuse")),
			creation(200, "a picture", "entrances-0004", image("a fox")).in(task.Test).with("Prefer", "wait=30"),
			creation(400, "an unknown capability", "entrances-0005", `{"capability":"text.sing","input":{}}`),
			creation(400, "one without a supplier", "entrances-0005", `{"capability":"text.embed","input":{"texts":["a"]}}`),
			creation(400, "what the schema refuses", "entrances-0006", `{"capability":"text.chat","input":{"prompt":" "},"parameters":{"top_p":7,"x":1}}`),
			creation(400, "no JSON", "entrances-0007", `{"capability"`),
			creation(400, "a member twice", "entrances-0008", `{"capability":"text.chat","input":{},"input":{}}`),
			creation(403, "nobody vouches for people", "entrances-0009", `{"capability":"image.edit","input":{"prompt":"x","images":[{"url":"https://a.example/b.png"}]}}`).in(task.Test),
			creation(400, "no Idempotency-Key", "", chat("hello")),
			creation(400, "a short one", "short", chat("hello")),
			creation(415, "no JSON by its name", "entrances-0010", chat("hello")).with("Content-Type", "text/plain"),
			creation(413, "too large", "entrances-0011", chat(strings.Repeat("x", 5000))),
			reading(405, "another method", http.MethodDelete, "/tasks"),
			creation(202, "one that doesn't end", "entrances-0012", image("@stuck:running")).in(task.Test),
			reading(200, "is canceled", http.MethodPost, "/tasks/TASK/cancel").in(task.Test),
			reading(200, "and again", http.MethodPost, "/tasks/TASK/cancel").in(task.Test),
		},
	},
	{
		name: "a budget for one task", limits: api.Limits{Budget: "0.000083", BudgetPeriod: "day"},
		requests: []knocking{
			creation(200, "the first", "entrances-0001", chat("hello")),
			creation(429, "one too many", "entrances-0003", chat("hello")), creation(200, "the first again", "entrances-0001", chat("hello")),
			creation(200, "what is free", "entrances-0004", chat("hello")).in(task.Test),
		},
	},
	{
		name: "the account's rate", limits: api.Limits{CreatesPerMinute: 2, ReadsPerMinute: 1},
		requests: []knocking{
			creation(200, "the first", "entrances-0001", chat("hello")), reading(200, "a list", http.MethodGet, "/tasks"),
			creation(429, "one too many", "entrances-0002", chat("hello")), reading(200, "a read", http.MethodGet, "/tasks/TASK"),
			reading(429, "a read too many", http.MethodGet, "/tasks/TASK"), creation(200, "the other mode", "entrances-0003", chat("hello")).in(task.Test),
		},
	},
	{
		name: "the limits of whoever has none", defaults: gate.Defaults{CreatesPerMinute: 3, ReadsPerMinute: 2, OpenTasks: 1},
		requests: []knocking{
			creation(202, "an open task", "entrances-0001", image("@stuck:running")).in(task.Test),
			creation(429, "one too many", "entrances-0002", image("a fox")).in(task.Test),
			reading(200, "it ends", http.MethodPost, "/tasks/TASK/cancel").in(task.Test),
			creation(200, "there is room", "entrances-0003", chat("hello")).in(task.Test),
			creation(429, "more than the rate", "entrances-0004", chat("hello")).in(task.Test),
		},
	},
}

// TestBothDoors sends one table of requests by a key and from a page of somebody who signed in: the answers, the
// limits, the errors and the records are the same.
func TestBothDoors(t *testing.T) {
	for _, tt := range doorTables {
		t.Run(tt.name, func(t *testing.T) {
			still := time.Now() // no bucket fills up while the table runs
			w := newWorld(t, options{
				defaults: tt.defaults, limits: server.Limits{Body: 4096}, now: func() time.Time { return still },
			})
			keyed, seated := w.byKey(tt.limits), w.bySession(tt.limits)
			var lastKeyed, lastSeated string
			for _, k := range tt.requests {
				want := w.knock(keyed, k, &lastKeyed)
				got := w.knock(seated, k, &lastSeated)
				if want.Status != k.want {
					t.Errorf("%s: status %d, want %d: %s", k.name, want.Status, k.want, want.Body)
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("%s: by key (-), from a page (+):\n%s", k.name, diff)
				}
			}
		})
	}
}

// byKey makes an account with the limits and returns the door of its keys.
func (w *world) byKey(limits api.Limits) entrance {
	fixture.Must(w.Operator.CreateAccount(w.t.Context(), api.AccountCreate{Name: "keyed", Limits: limits}))(w.t)
	keys := map[task.Mode]string{}
	for _, mode := range []task.Mode{task.Live, task.Test} {
		keys[mode] = w.key(api.KeyCreate{Account: "keyed", Mode: mode})
	}
	return entrance{"key", strings.TrimSuffix(api.PathTasks, "/tasks"), func(r *http.Request, m task.Mode) {
		r.Header.Set("Authorization", "Bearer "+keys[m])
	}}
}

// bySession makes an account with the limits and returns the door of a member who signed in.
func (w *world) bySession(limits api.Limits) entrance {
	ctx := w.t.Context()
	fixture.Must(w.Operator.CreateAccount(ctx, api.AccountCreate{Name: "seated", Limits: limits}))(w.t)
	link := fixture.Must(w.Operator.Invite(ctx, "seated", api.Invite{Member: "ann"}))(w.t)
	_, token, _ := strings.Cut(link.URL, "#")
	form := strings.NewReader(url.Values{"token": {token}}.Encode())
	r := fixture.Must(http.NewRequestWithContext(ctx, http.MethodPost, w.base+api.PathSignIn, form))(w.t)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if len(resp.Cookies()) != 1 {
		w.t.Fatalf("signing in answers %d with cookies %v", resp.StatusCode, resp.Cookies())
	}
	return entrance{"session", "/console/api/MODE", func(r *http.Request, _ task.Mode) { r.AddCookie(resp.Cookies()[0]) }}
}

// knocked is the answer to a request, without the parts that differ between two of the same kind.
type knocked struct {
	Status int
	Header map[string]string
	Body   string
	Record string // of the task, as the operator reads it
}

// knock sends a request through a door; last is the id of the last task that was made.
func (w *world) knock(d entrance, k knocking, last *string) knocked {
	w.t.Helper()
	mode := cmp.Or(k.mode, task.Live)
	path := strings.Replace(d.root, "MODE", string(mode), 1) + strings.Replace(k.path, "TASK", *last, 1)
	var body io.Reader
	if k.body != "" {
		body = strings.NewReader(k.body)
	}
	r := fixture.Must(http.NewRequestWithContext(w.t.Context(), k.method, w.base+path, body))(w.t)
	if k.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if k.idempotency != "" {
		r.Header.Set(api.HeaderIdempotencyKey, k.idempotency)
	}
	for name, value := range k.header {
		r.Header.Set(name, value)
	}
	d.knock(r, mode)
	got := w.send(r)
	out := knocked{Status: got.StatusCode, Header: map[string]string{}, Body: alike(string(got.body))}
	for name := range got.Header {
		switch name {
		case "Date", api.HeaderRequestID, "Etag", "Content-Length": // of this answer alone
		default:
			out.Header[name] = strings.Replace(alike(got.Header.Get(name)), strings.Replace(d.root, "MODE", string(mode), 1), "", 1)
		}
	}
	var about struct {
		ID     string     `json:"id"`
		TaskID string     `json:"task_id"`
		State  task.State `json:"state"`
	}
	_ = json.Unmarshal(got.body, &about) // an answer about no task has no id
	if id := cmp.Or(about.ID, about.TaskID); id != "" {
		*last = id
		if about.State != "" && (about.State == task.Canceled || !about.State.Terminal()) {
			return out // a worker's progress isn't promised
		}
		record := fixture.Must(w.Operator.Task(w.t.Context(), id))(w.t)
		record.Account = ""
		out.Record = alike(string(fixture.Must(json.MarshalIndent(record, "", " "))(w.t)))
	}
	return out
}

var (
	anyID   = regexp.MustCompile(`\b(task|req|art|key)_[0-9a-z]{26}`)
	anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
	anySign = regexp.MustCompile(`\?exp=\d+&sig=[0-9A-Za-z_-]+`)
)

// alike removes from a text the parts that differ between two tasks of the same kind: ids, times and signatures.
func alike(text string) string {
	for _, one := range []*regexp.Regexp{anyID, anyTime, anySign} {
		text = one.ReplaceAllString(text, "…")
	}
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(text), "", " ") == nil {
		return indented.String()
	}
	return fmt.Sprint(text)
}
