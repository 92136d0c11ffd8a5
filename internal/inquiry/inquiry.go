// Package inquiry lets a node of a fleet ask the others a question, by the notes that they exchange: no network between
// nodes is needed.
//
// A node says its open questions, and the others say their answers for as long as a question stays open. A question is
// open for a few seconds at most. Questions and answers are small: both have room in a note. The package exchanges no
// notes itself, and knows nothing of what is asked.
package inquiry

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// MostAnswer bounds an answer, in bytes; a longer one isn't given.
	MostAnswer = 16 << 10
	// mostOpen bounds the questions that one node has open at a time; more wait.
	mostOpen = 4
	// mostQuestion bounds a question, in bytes.
	mostQuestion = 200
	// patience is how long a question is open: an exchange of the others, their search, and an exchange back.
	patience = 4 * time.Second
)

// Config configures a Desk.
type Config struct {
	Name string // of this node, for people
	// AnswerFunc answers another node's question, in JSON; nil: there is no answer. Its calls follow each other, and ctx
	// ends when the question is closed. Required.
	AnswerFunc func(ctx context.Context, question string) json.RawMessage
}

// Desk asks questions, and has those of others answered. It is safe for concurrent use.
type Desk struct {
	cfg     Config
	id      string // in what it says, whatever its node is called
	changed chan struct{}
	work    chan struct{}
	slots   chan struct{}

	mu     sync.Mutex
	joined bool                 // a fleet, by the first Say
	others map[string]string    // the people's names of the other nodes with a session, by the ids of their desks
	open   map[string]*inquiry  // by id
	asked  map[string]*question // by others, by id
}

// inquiry is an open question of this node.
type inquiry struct {
	text    string
	silent  map[string]string // who hasn't answered, as in Desk.others; nil before the first Hear since it is open
	answers []Answer
	enough  func(Answer) bool
	ended   bool
	done    chan struct{} // closed when all have answered, or one has that is enough
}

// Answer is another node's answer.
type Answer struct {
	Node string // its name for people
	Data json.RawMessage
}

// Said is the part of a node's note.
type Said struct {
	Desk      string     `json:"desk,omitempty"` // its id
	Name      string     `json:"name,omitempty"`
	Questions []question `json:"questions,omitempty"`
	Answers   []answer   `json:"answers,omitempty"`
}

type question struct {
	ID   string `json:"id"` // no other question has it
	Text string `json:"text"`

	done   bool
	answer json.RawMessage
	cancel context.CancelFunc // of its search; nil: it hasn't begun
}

type answer struct {
	ID   string          `json:"id"` // of the question
	Data json.RawMessage `json:"data"`
}

// New returns a Desk that knows of no other node.
func New(c Config) *Desk {
	return &Desk{
		cfg: c, id: rand.Text(), changed: make(chan struct{}, 1), work: make(chan struct{}, 1), slots: make(chan struct{}, mostOpen),
		open: map[string]*inquiry{}, asked: map[string]*question{},
	}
}

// Ask asks every other node that has a session, and waits for their answers: four seconds at most, less if ctx ends. The
// first answer that is enough ends it too; enough, which may be nil for none, is called under the Desk's lock. silent are
// the nodes that gave no answer, by their names for people, unless one was enough. A node without a fleet asks no one.
func (d *Desk) Ask(ctx context.Context, text string, enough func(Answer) bool) (answers []Answer, silent []string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return nil, d.names()
	}
	id := rand.Text()
	q := d.begin(id, text, enough)
	if q == nil {
		return nil, nil
	}
	select {
	case <-q.done:
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, id)
	if q.ended {
		return q.answers, nil
	}
	if q.silent == nil {
		q.silent = d.others
	}
	return q.answers, slices.Sorted(maps.Values(q.silent))
}

func (d *Desk) names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Values(d.others))
}

// begin opens a question; nil without a fleet.
func (d *Desk) begin(id, text string, enough func(Answer) bool) *inquiry {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.joined {
		return nil
	}
	q := &inquiry{text: text[:min(len(text), mostQuestion)], enough: enough, done: make(chan struct{})}
	d.open[id] = q
	ring(d.changed)
	return q
}

// Changed returns a channel that receives when there is something to Say that others wait for.
func (d *Desk) Changed() <-chan struct{} { return d.changed }

// Waiting reports whether this node waits for answers.
func (d *Desk) Waiting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open) > 0
}

// Say returns what the others should know, of about room bytes in JSON at most: an answer that doesn't fit is said when
// others aren't asked for any more.
func (d *Desk) Say(room int) Said {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.joined = true
	s := Said{Desk: d.id, Name: d.cfg.Name}
	room -= len(s.Desk) + len(s.Name) + memberBytes
	for id, q := range d.open {
		room -= len(id) + len(q.text) + memberBytes
		s.Questions = append(s.Questions, question{ID: id, Text: q.text})
	}
	for id, q := range d.asked {
		if size := len(id) + len(q.answer) + memberBytes; q.answer != nil && size <= room {
			room -= size
			s.Answers = append(s.Answers, answer{id, q.answer})
		}
	}
	return s
}

// memberBytes is the JSON around a question or an answer, at most.
const memberBytes = 60

// Hear takes what each other node with a session said last, by its name. A node that has another name since may be there
// twice for a while: it is one desk.
func (d *Desk) Hear(others map[string]Said) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.asked
	d.others, d.asked = map[string]string{}, map[string]*question{}
	for node, s := range others {
		if s.Desk != d.id { // its own, under a name that it had before
			d.others[cmp.Or(s.Desk, node)] = cmp.Or(s.Name, node)
		}
	}
	for _, q := range d.open {
		if q.silent == nil {
			q.silent = maps.Clone(d.others)
		}
	}
	for node, s := range others {
		if s.Desk != d.id {
			d.hearLocked(cmp.Or(s.Desk, node), s, before)
		}
	}
	for id, q := range before {
		if d.asked[id] == nil && q.cancel != nil {
			q.cancel() // no one waits for it any more
		}
	}
	for id, q := range d.open {
		if q.ended = q.ended || len(q.silent) == 0; q.ended {
			delete(d.open, id)
			close(q.done)
		}
	}
}

// hearLocked takes what one desk said; before are the questions so far.
func (d *Desk) hearLocked(desk string, s Said, before map[string]*question) {
	for _, a := range s.Answers {
		d.takeLocked(desk, a)
	}
	for _, q := range s.Questions[:min(len(s.Questions), mostOpen)] {
		if d.asked[q.ID] = before[q.ID]; d.asked[q.ID] == nil {
			d.asked[q.ID] = &q
			ring(d.work)
		}
	}
}

// takeLocked takes a desk's answer if its question is open.
func (d *Desk) takeLocked(desk string, said answer) {
	q := d.open[said.ID]
	if q == nil {
		return
	}
	if _, waits := q.silent[desk]; !waits {
		return
	}
	delete(q.silent, desk)
	a := Answer{d.others[desk], said.Data}
	q.answers = append(q.answers, a)
	q.ended = q.ended || q.enough != nil && q.enough(a)
}

// Run answers questions until ctx ends.
func (d *Desk) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.work:
		}
		for q, open := d.next(ctx); q != nil && ctx.Err() == nil; q, open = d.next(ctx) {
			data := d.cfg.AnswerFunc(open, q.Text)
			d.mu.Lock()
			q.cancel()
			q.done = true
			if len(data) <= MostAnswer && json.Valid(data) {
				q.answer = data
			}
			d.mu.Unlock()
			ring(d.changed)
		}
	}
}

// next returns a question that isn't answered, and a context that ends when it is closed; nil: there is none.
func (d *Desk) next(ctx context.Context) (*question, context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.asked {
		if !q.done {
			open, cancel := context.WithTimeout(ctx, patience)
			q.cancel = cancel
			return q, open
		}
	}
	return nil, nil
}

func ring(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
