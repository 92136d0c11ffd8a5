package console

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// memoryView is the data of the page on which an account says for how long its requests are kept.
type memoryView struct {
	Days   int
	Most   int
	Offers []memoryOffer
}

type memoryOffer struct {
	Days int
	Text string
	Here bool
}

func (c *Console) handleMemory(x exchange) error {
	v := memoryView{Days: x.visitor.Account.KeepInputs, Most: account.MaxKeepInputs}
	for _, o := range []memoryOffer{
		{0, "They aren't", false}, {1, "For a day", false}, {7, "For a week", false}, {14, "For two weeks", false}, {30, "For 30 days", false},
	} {
		if v.Days < o.Days && !v.offered() {
			v.add(memoryOffer{Days: v.Days, Text: "For " + strconv.Itoa(v.Days) + " days"})
		}
		v.add(o)
	}
	return c.show(x, page{Name: "memory", Section: "tasks", Title: "Kept requests", Data: v})
}

// offered reports whether the present choice is among the offers.
func (v *memoryView) offered() bool {
	for _, o := range v.Offers {
		if o.Here {
			return true
		}
	}
	return false
}

func (v *memoryView) add(o memoryOffer) {
	o.Here = o.Days == v.Days
	v.Offers = append(v.Offers, o)
}

func (c *Console) handleMemoryChange(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	days, err := strconv.Atoi(x.r.PostForm.Get("keep_inputs_days"))
	if err != nil {
		return fault.Invalid("keep_inputs_days", "must be one of those offered")
	}
	if days < x.visitor.Account.KeepInputs && !c.asked(x, "tasks", erasure(days, "/memory")) {
		return nil
	}
	if err := c.operator.Member(x.visitor).KeepInputs(x.r.Context(), days); err != nil {
		return err
	}
	c.logChange(x, "keeping of requests changed", slog.String("account_id", x.visitor.Account.ID), slog.Int("days", days))
	c.goTo(x, x.r, "/memory?done=kept")
	return nil
}

// erasure asks whether requests are to be kept for fewer days than before.
func erasure(days int, back string) question {
	text := "Requests that are older than " + strconv.Itoa(days) + " days are erased. To undo this isn't possible."
	if days == 0 {
		text = "Every request that is kept is erased. To undo this isn't possible."
	}
	return question{Title: "Keep requests for a shorter time?", Button: "Erase them", Back: back, Text: text}
}

const (
	recallTime    = 400 * time.Millisecond // for all the requests of a page: a list doesn't wait for a slow store of files
	recallWorkers = 8
	mostThumb     = 1 << 20 // bytes of a picture that stands in a list
	mostExcerpt   = 90      // characters
)

// remember adds to the rows of the visitor's own tasks the first words of their requests that are kept, and their
// pictures.
func (c *Console) remember(x exchange, rows []taskRow) {
	ctx, stop := context.WithTimeout(x.r.Context(), recallTime)
	defer stop()
	var all sync.WaitGroup
	places := make(chan struct{}, recallWorkers)
	for i := range rows {
		own := rows[i].own
		if own == nil {
			continue
		}
		rows[i].Picture = c.thumbOf(*own)
		if own.InputUntil == nil || rows[i].Asked != "" {
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			if kept, err := c.gateway.Recall(ctx, callerOf(x.visitor, own.Scope.Mode), *own); err == nil {
				rows[i].Asked = excerpt(kept.Input)
			}
		})
	}
	all.Wait()
}

// thumbOf returns the address of a task's first picture, "" without one that a list can show.
func (c *Console) thumbOf(t task.Task) string {
	if t.Output == nil {
		return ""
	}
	for _, f := range t.Output.Files {
		if strings.HasPrefix(f.ContentType, "image/") && f.Bytes <= mostThumb && c.now().Before(f.ExpiresAt) {
			return c.linkOf(f)
		}
	}
	return ""
}

// excerpt returns the first words of a request: of its prompt, its last message, or its first text.
func excerpt(input json.RawMessage) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	for _, name := range []string{"prompt", "messages", "query", "text", "texts", "input"} {
		if text := saidIn(in[name]); text != "" {
			return firstWords(text)
		}
	}
	return ""
}

// saidIn returns the text of a value: its own, or the last one of several.
func saidIn(raw json.RawMessage) (text string) {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		_ = json.Unmarshal(raw, &text)
	case '[':
		var items []json.RawMessage
		_ = json.Unmarshal(raw, &items)
		for i := len(items) - 1; i >= 0 && text == ""; i-- {
			text = saidIn(items[i])
		}
	case '{':
		var part struct{ Content, Text json.RawMessage }
		_ = json.Unmarshal(raw, &part)
		if text = saidIn(part.Content); text == "" {
			text = saidIn(part.Text)
		}
	}
	return strings.TrimSpace(text)
}

// firstWords returns a text on one line, cut between words.
func firstWords(text string) string {
	var out strings.Builder
	for word := range strings.FieldsSeq(text[:min(len(text), 8*mostExcerpt)]) {
		if out.Len() > 0 && out.Len()+len(word) >= mostExcerpt {
			return out.String() + " …"
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(clipped(word))
	}
	return strings.ToValidUTF8(out.String(), "")
}

// clipped returns as much of a long word as an excerpt has room for.
func clipped(word string) string {
	if len(word) > mostExcerpt {
		return strings.ToValidUTF8(word[:mostExcerpt], "") + "…"
	}
	return word
}
