package move_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/pgstore"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
	"unitask/test/harness"
)

const (
	shortLists = 12_000                 // more than some windows of a list
	listBound  = 100 * time.Millisecond // of a page, in the long form
	listReads  = 20                     // of each page
	keptOnes   = 60                     // tasks whose requests are kept
	rareOne    = 0.6                    // where in the list the tasks are that few filters find, from the oldest
)

// TestLists reads the console's list of many tasks, from the file and from PostgreSQL. With UNITASK_LIST_TASKS the pages are
// held to a bound of time too.
func TestLists(t *testing.T) {
	harness.NeedsBolt(t)
	l := &lists{T: t, tasks: int(harness.Setting(t, "UNITASK_LIST_TASKS", shortLists)), bounded: os.Getenv("UNITASK_LIST_TASKS") != ""}
	m := &moved{T: t, paid: harness.NewSupplier(t), first: harness.NewServer(t)}
	m.serveFirst()
	dir := t.TempDir()
	bolt, err := boltstore.OpenTarget(filepath.Join(dir, databaseName), store.CopyOf{From: "the test"})
	if err != nil {
		t.Fatal(err)
	}
	l.fill(m.first.Data(), bolt)
	l.read("boltstore", m, dir)
	database := pgtest.Start(t, pgtest.Config{Sync: true})
	pg, err := pgstore.OpenTarget(t.Context(), pgstore.Config{URL: database.URL()}, store.CopyOf{From: "the test"})
	if err != nil {
		t.Fatal(err)
	}
	l.fill(m.first.Data(), pg)
	l.read("PostgreSQL", m, t.TempDir(), "UNITASK_STORE="+database.URL())
}

// lists is one run of the test.
type lists struct {
	*testing.T
	tasks   int
	bounded bool
	rare    struct{ key, id string }
	middle  string // the id of a task in the midst
}

// fill makes a store of tasks of which one in a hundred failed, and one, far back, by a key and with a code of its own.
func (l *lists) fill(from string, target store.Target) {
	l.Helper()
	source, err := boltstore.OpenOffline(filepath.Join(from, databaseName))
	if err != nil {
		l.Fatal(err)
	}
	defer func() { _ = source.Close() }() // only read
	l.rare.key = task.NewID(task.PrefixKey, time.Now())
	mustPut(l.T, &older{Source: source, tasks: l.tasks, template: mustTemplate(l.T, source), change: func(i int, t *task.Task) {
		if i == l.tasks/2 {
			l.middle = t.ID
		}
		if rare := i == int(rareOne*float64(l.tasks)); rare || i%100 == 0 {
			code := fault.ProviderTimeout
			if rare {
				code, l.rare.id, t.KeyID = fault.ContentPolicyViolation, t.ID, l.rare.key
			}
			t.State, t.Output, t.Cost, t.Usage = task.Failed, nil, 0, nil
			t.Failure = new(task.FailureOf(fault.New(code, "it was told to fail")))
			t.Timeline[len(t.Timeline)-1].State = task.Failed
		}
	}}, target)
}

// read reads pages of a server's list as its operator.
func (l *lists) read(what string, m *moved, dir string, env ...string) {
	l.Helper()
	s := harness.NewServer(l.T)
	s.Config, s.Env = m.paid.Config(), env
	if err := os.Rename(dir, s.Data()); err != nil {
		l.Fatal(err)
	}
	s.Start()
	defer s.Stop()
	b := l.signIn(s)
	for range keptOnes {
		b.send("a fox")
	}
	day := func(share float64) string {
		return time.Now().Add(-time.Duration((1 - share) * float64(olderSpan))).UTC().Format(time.DateOnly)
	}
	for _, p := range []struct {
		name, query string
		rows        int // at least
	}{
		{"the first page", "", 25},
		{"the first page of 100", "?per=100", 100},
		{"deep inside", "?cursor=" + l.middle, 25},
		{"deep inside, back", "?newer=" + l.middle, 25},
		{"all accounts, deep inside", "?account=*&cursor=" + l.middle, 25},
		{"two days", "?since=" + day(0.4) + "&until=" + day(0.5), 25},
		{"failed, one in a hundred", "?state=failed", 1},
		{"a code, one in a hundred", "?code=PROVIDER_TIMEOUT", 1},
		{"a key of few tasks", "?key=" + l.rare.key, 0},
		{"a code of few tasks", "?code=CONTENT_POLICY_VIOLATION", 0},
		{"a code of few tasks, all accounts", "?account=*&code=CONTENT_POLICY_VIOLATION", 0},
		{"words of kept requests", "?words=fox", 1},
		{"words of kept requests, 100", "?words=fox&per=100", 1},
		{"words of no request", "?words=zarquon", 0},
	} {
		l.time(what+": "+p.name, b, "/console/tasks"+p.query, p.rows)
	}
	for _, query := range []string{"?key=" + l.rare.key, "?code=CONTENT_POLICY_VIOLATION"} {
		l.find(what, b, query)
	}
}

// time reads a page some times, and says the median and the longest.
func (l *lists) time(what string, b *visitor, path string, rows int) {
	l.Helper()
	var all []time.Duration
	for range listReads {
		start := time.Now()
		body := b.get(path)
		all = append(all, time.Since(start))
		if got := len(listedTask.FindAllString(body, -1)); got < rows {
			l.Errorf("%s: %d tasks, want %d", what, got, rows)
		}
	}
	slices.Sort(all)
	l.Logf("%-50s %8s, %8s at most", what, all[len(all)/2].Round(100*time.Microsecond), all[len(all)-1].Round(100*time.Microsecond))
	if l.bounded && all[len(all)/2] > listBound {
		l.Errorf("%s: %s, want %s at most", what, all[len(all)/2], listBound)
	}
}

var (
	listedTask = regexp.MustCompile(`href="/console/tasks/task_`)
	olderLink  = regexp.MustCompile(`rel="next" href="([^"]*)" data-go-on`)
)

// find follows an empty list as the page's script does, until it shows the one task.
func (l *lists) find(what string, b *visitor, query string) {
	l.Helper()
	start, pages := time.Now(), 1
	for at := query; ; pages++ {
		body := b.get("/console/tasks" + at)
		if strings.Contains(body, l.rare.id) {
			break
		}
		next := olderLink.FindStringSubmatch(body)
		if next == nil {
			l.Errorf("%s: %s doesn't find the task", what, query)
			return
		}
		at = strings.ReplaceAll(next[1], "&amp;", "&")
	}
	l.Logf("%s: %.20s… finds its task after %d pages and %s", what, query, pages, time.Since(start).Round(time.Millisecond))
}

// visitor is somebody who signed in.
type visitor struct {
	*testing.T
	base string
	http.Client
}

func (l *lists) signIn(s *harness.Server) *visitor {
	l.Helper()
	admin, err := client.NewAdmin(s.Data())
	if err != nil {
		l.Fatal(err)
	}
	accounts, err := admin.ListAccounts(l.Context())
	if err != nil || len(accounts) == 0 {
		l.Fatalf("%d accounts, %v", len(accounts), err)
	}
	if _, err := admin.UpdateAccount(l.Context(), accounts[0].Name, api.AccountUpdate{KeepInputsDays: new(7)}); err != nil {
		l.Fatal(err)
	}
	link, err := admin.Invite(l.Context(), accounts[0].Name, api.Invite{Member: "somebody", Role: "operator"})
	if err != nil {
		l.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		l.Fatal(err)
	}
	b := &visitor{l.T, s.Base, http.Client{Jar: jar}}
	_, token, _ := strings.Cut(link.URL, "#")
	b.do(http.MethodPost, "/console/sign-in", url.Values{"token": {token}})
	return b
}

func (b *visitor) get(path string) string { return b.do(http.MethodGet, path, nil) }

func (b *visitor) do(method, path string, form url.Values) string {
	b.Helper()
	r := b.request(method, path, form.Encode())
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.answer(r)
}

// send makes a task as a page does.
func (b *visitor) send(prompt string) {
	b.Helper()
	r := b.request(http.MethodPost, "/console/api/test/tasks", fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, prompt))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(api.HeaderIdempotencyKey, rand.Text())
	b.answer(r)
}

func (b *visitor) request(method, path, body string) *http.Request {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return r
}

// answer returns the body of the answer, which must be a success.
func (b *visitor) answer(r *http.Request) string {
	b.Helper()
	answer, err := b.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s", answer.Status)
	}
	if err != nil {
		b.Fatalf("%s: %v", r.URL.Path, err)
	}
	return string(body)
}
