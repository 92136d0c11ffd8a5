package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/server/console"
	"unitask/internal/task"
)

// saidTo makes a chat task of the prompt and returns its id.
func (b *browser) saidTo(prompt string) string {
	b.w.t.Helper()
	b.w.skip(time.Millisecond) // ids are ordered by the millisecond
	return b.run(fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, prompt)).ID
}

func wordsQuery(words string) string { return "?" + url.Values{"words": {words}}.Encode() }

// TestTasksByWords: a list is narrowed to the requests that are kept and have all the words, in whichever letters and
// beyond the first ones too, along with the other filters; exports are narrowed alike, and the sums are left out.
func TestTasksByWords(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	b.saidTo("a fox of before")
	b.post("/memory", keeps)
	fox := b.saidTo("A Fox at the HARBOUR")
	late := b.saidTo(strings.Repeat("and so on, ", 20) + "until the fox left")
	umlaut := b.saidTo("Größe 100 %")
	w.skip(time.Millisecond)
	chat := b.run(`{"capability":"text.chat","input":{"messages":[{"role":"system","content":"Be a harbour pilot"},
		{"role":"user","content":[{"type":"text","text":"Where do I moor?"}]}]}}`).ID
	w.skip(time.Millisecond)
	image := b.run(`{"capability":"image.generate","input":{"prompt":"another fox"},"parameters":{"size":"64x64"}}`).ID
	w.skip(time.Millisecond)
	ranked := b.run(`{"capability":"text.rerank","input":{"query":"a boat in winter","documents":["The barge rests on ice","Ferries"]}}`).ID
	for words, want := range map[string][]string{
		"fox":             {image, late, fox},
		" fOX  hArbour":   {fox},
		"harbour":         {chat, fox},
		"harb":            {chat, fox},
		"moor pilot":      {chat}, // in two of its texts
		"left":            {late},
		"barge boat":      {ranked},
		"GRÖSSE":          nil,
		"GRÖßE %":         {umlaut},
		"fox pilot":       nil,
		"user":            nil, // a role is no text
		"before":          nil, // it wasn't kept
		"fox fox another": {image},
		" ":               {ranked, image, chat, umlaut, late, fox, b.listed("?per=100")[6]},
	} {
		if got := b.listed(wordsQuery(words)); !slices.Equal(got, want) {
			t.Errorf("%q lists %v, want %v", words, got, want)
		}
	}
	since := task.IDTime(fox).Format(time.DateOnly)
	for query, want := range map[string][]string{
		"&capability=image.generate": {image}, "&state=failed": nil, "&mode=test": {image, late, fox}, "&mode=live": nil, "&cursor=" + image: {late, fox},
		"&newer=" + fox: {image, late, fox}, "&since=" + since: {image, late, fox}, "&until=" + since + "&per=100": {image, late, fox},
	} {
		if got := b.listed("?words=fox" + query); !slices.Equal(got, want) {
			t.Errorf("words with %s: %v, want %v", query, got, want)
		}
	}
	page := b.get("/tasks?words=%22Fox%22&since=" + since).body
	for _, want := range []string{`<label for="words">Words</label>`, `value="&#34;Fox&#34;"`, `&amp;words=%22Fox%22`, ">Clear the filters</a>", "None fits the filter.", `data-poll="10"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s on %s", want, page)
		}
	}
	if strings.Contains(page, `class="sums"`) {
		t.Error("the sums don't know the words, and are shown")
	}
	for _, format := range []string{"csv", "jsonl"} {
		got := b.get("/tasks/export?words=harbour+fox&format=" + format).body
		if !strings.Contains(got, fox) || strings.Contains(got, chat) || strings.Contains(got, image) {
			t.Errorf("the export as %s:\n%s", format, got)
		}
	}
	w.skip(8 * 24 * time.Hour)
	if got := w.member("acme", "member").listed("?words=fox"); len(got) > 0 { // that session is over too
		t.Errorf("requests that aren't kept any more are found: %v", got)
	}
	if strings.Contains(strings.ToLower(w.log.String()), "harbour") {
		t.Error("the log has a word")
	}
}

// follow returns the tasks of the pages of a search for "fox" from one on, by their links.
func (b *browser) follow(at, rel string) (pages [][]string) {
	b.w.t.Helper()
	for at != "" {
		page := b.get("/tasks" + at)
		var ids []string
		for _, found := range taskLink.FindAllStringSubmatch(page.body, -1) {
			ids = append(ids, found[1])
		}
		pages = append(pages, ids)
		if at = pagerLink(page.body, rel); at != "" && !strings.Contains(at, "words=fox") {
			b.w.t.Fatalf("the page's link has lost the words: %s", at)
		}
	}
	return pages
}

// wantNewer expects all tasks but the last on the pages that lead from it to the newest, however much each has.
func (b *browser) wantNewer(all []string) {
	b.w.t.Helper()
	pages := b.follow("?words=fox&newer="+all[len(all)-1], "prev")
	for _, id := range all[:len(all)-1] {
		if !slices.Contains(slices.Concat(pages...), id) {
			b.w.t.Errorf("newer: %v lack %s", pages, id)
		}
	}
}

// TestWordsBothWays: pages of tasks that have the words lead both ways, over more tasks without them than are read at once.
func TestWordsBothWays(t *testing.T) {
	w := newWorld(t)
	b := w.keeping("acme")
	var all []string
	for i := range console.TasksPage + 3 {
		for range 1 + 100*(i/(console.TasksPage+2)) {
			b.saidTo("a hare")
		}
		all = append([]string{b.saidTo("a fox")}, all...)
	}
	if got := slices.Concat(b.follow("?words=fox", "next")...); !slices.Equal(got, all) {
		t.Errorf("older: %d tasks, want %d: %v", len(got), len(all), got)
	}
	b.wantNewer(all)
	if got := b.get("/tasks/export?words=fox&format=csv").body; strings.Count(got, "\n") != len(all)+1 {
		t.Errorf("the export has %d lines, want %d", strings.Count(got, "\n"), len(all)+1)
	}
}

// TestWordsInSlowFiles: a page reads few requests of a slow store of files, says how far it got and leads on from there; one
// whose requests can't be read says so, in place of leaving them out.
func TestWordsInSlowFiles(t *testing.T) {
	w := newWorld(t)
	b := w.keeping("acme")
	var all []string
	for range 10 {
		b.saidTo("a hare")
		all = append([]string{b.saidTo("a fox")}, all...)
	}
	w.files.opening.Store(new(func() error {
		time.Sleep(console.SearchFor)
		return nil
	}))
	if pages := b.follow("?words=fox", "next"); !slices.Equal(slices.Concat(pages...), all) || len(pages) < 3 {
		t.Errorf("%d pages have %v, want at least 3 with %v", len(pages), pages, all)
	}
	b.wantNewer(all)
	var read atomic.Int64
	w.files.opening.Store(new(func() error {
		if read.Add(1) > 18 { // the newest are slow to be read once more
			time.Sleep(console.SearchFor)
		}
		return nil
	}))
	if got := b.listed("?words=fox&newer=" + all[9]); !slices.Equal(got, all[:9]) {
		t.Errorf("newer than the oldest: %v, want %v", got, all[:9])
	}
	if got := b.get("/tasks?words=fox").body; !strings.Contains(got, "Searched back to") {
		t.Errorf("the page doesn't say how far it got: %s", got)
	}
	if got := b.get("/tasks/export?words=fox&format=csv").body; strings.Count(got, "\n") != len(all)+1 {
		t.Errorf("the export has %d lines, want %d", strings.Count(got, "\n"), len(all)+1)
	}
	w.files.opening.Store(new(func() error { return errors.New("the disk is on fire") }))
	for _, path := range []string{"/tasks?words=fox", "/tasks/export?words=fox&format=csv"} {
		if got := b.get(path); got.StatusCode != http.StatusInternalServerError {
			t.Errorf("%s without its files: %d %s", path, got.StatusCode, got.body)
		}
	}
	if got := b.listed(""); len(got) != 20 {
		t.Errorf("a list without words, and without its files, has %d tasks", len(got))
	}
}

// TestWordsOfOwnRequestsAlone: words are searched in the kept requests of the visitor's own account alone, and the field is
// where some are kept.
func TestWordsOfOwnRequestsAlone(t *testing.T) {
	w := newWorld(t)
	owner, operator, stranger, forgetful := w.keeping("acme"), w.member("ops", "operator"), w.keeping("other"), w.member("globex", "member")
	operator.post("/memory", keeps)
	id := owner.saidTo("zarquon")
	if got := owner.listed("?words=zarquon"); !slices.Equal(got, []string{id}) {
		t.Fatalf("the owner finds %v", got)
	}
	for name, b := range map[string]*browser{"operator": operator, "stranger": stranger} {
		if got := b.listed("?words=zarquon"); len(got) > 0 {
			t.Errorf("the %s finds %v", name, got)
		}
	}
	for _, c := range []struct {
		b     *browser
		query string
	}{
		{operator, "account=*&words=zarquon"},
		{operator, "account=acme&words=zarquon"},
		{forgetful, "words=zarquon"},
		{owner, "words=" + strings.Repeat("%C3%A4", 101)},
	} {
		for _, path := range []string{"/tasks?", "/tasks/export?format=jsonl&"} {
			if got := c.b.get(path + c.query); got.StatusCode != http.StatusBadRequest || strings.Contains(got.body, id) {
				t.Errorf("%s%s: %d %s", path, c.query, got.StatusCode, got.body)
			}
		}
	}
	if got := owner.get("/tasks?words=" + strings.Repeat("%C3%A4", 100)); got.StatusCode != http.StatusOK {
		t.Errorf("100 characters: %d", got.StatusCode)
	}
	field := `<label for="words">`
	for _, c := range []struct {
		name, path string
		b          *browser
		shown      bool
	}{
		{"owner", "/tasks", owner, true},
		{"operator", "/tasks", operator, true},
		{"operator, of all", "/tasks?account=*", operator, false},
		{"operator, of another", "/tasks?account=acme", operator, false},
		{"kept by no choice", "/tasks", forgetful, false},
	} {
		if got := c.b.get(c.path).body; strings.Contains(got, field) != c.shown {
			t.Errorf("%s: the field is shown: %t", c.name, !c.shown)
		}
	}
	owner.post("/memory", url.Values{"keep_inputs_days": {"0"}, "sure": {"yes"}})
	if got := owner.get("/tasks?words=zarquon"); got.StatusCode != http.StatusBadRequest || strings.Contains(got.body, id) {
		t.Errorf("after it was turned off: %d %s", got.StatusCode, got.body)
	}
	if strings.Contains(w.log.String(), "zarquon") {
		t.Error("the log has the word")
	}
}
