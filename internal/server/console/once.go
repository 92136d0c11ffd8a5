package console

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"
)

// The bounds of the secrets that wait to be shown once.
const (
	onceTime = 5 * time.Minute
	mostOnce = 1000
)

// once keeps pages that are shown a single time: those with a key or a link that signs in. The form that made one
// leads to it, so that reading the page again makes no second one, and doesn't show it. They are in memory alone.
type once struct {
	mu    sync.Mutex
	pages map[string]oncePage // by a random word in their address
}

// oncePage is a page and who may see it.
type oncePage struct {
	page    page
	session string
	until   time.Time
}

// keep keeps a page for whoever has the session, and returns its word.
func (o *once) keep(p page, session string, now time.Time) string {
	word := rand.Text()
	o.mu.Lock()
	defer o.mu.Unlock()
	for other := range o.pages {
		if len(o.pages) < mostOnce {
			break
		}
		delete(o.pages, other)
	}
	if o.pages == nil {
		o.pages = map[string]oncePage{}
	}
	o.pages[word] = oncePage{p, session, now.Add(onceTime)}
	time.AfterFunc(onceTime, func() { o.forget(word) }) // it may never be asked for
	return word
}

func (o *once) forget(word string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.pages, word)
}

// take returns a page and forgets it; false: it isn't there for this session.
func (o *once) take(word, session string, now time.Time) (page, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	k, ok := o.pages[word]
	if !ok || k.session != session {
		return page{}, false
	}
	delete(o.pages, word)
	return k.page, !now.After(k.until)
}

// showOnce sends somebody to a page that is shown a single time.
func (c *Console) showOnce(x exchange, p page) error {
	c.goTo(x, x.r, "/once/"+c.once.keep(p, c.token(x.r), c.now()))
	return nil
}

func (c *Console) handleOnce(x exchange) error {
	p, ok := c.once.take(x.r.PathValue("word"), c.token(x.r), c.now())
	if !ok {
		return c.showWith(x, http.StatusGone, page{Name: "once", Title: "Shown before"})
	}
	return c.show(x, p)
}
