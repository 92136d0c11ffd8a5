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
	// AnswerFunc answers another node's question, in JSON; nil: there is no answer. Its calls follow each other. Required.
	AnswerFunc func(ctx context.Context, question string) json.RawMessage
}

// Desk asks questions, and has those of others answered. It is safe for concurrent use.
type Desk struct {
	cfg     Config
	changed chan struct{}
	work    chan struct{}
	slots   chan struct{}

	mu     sync.Mutex
	joined bool                 // a fleet, by the first Say
	others map[string]string    // the people's names of the other nodes with a session, by their names in it
	open   map[string]*inquiry  // by id
	asked  map[string]*question // by others, by id
}

// inquiry is an open question of this node.
type inquiry struct {
	text    string
	silent  map[string]string // who hasn't answered, as in Desk.others; nil before the first Hear since it is open
	answers []Answer
	done    chan struct{} // closed when all have answered
}

// Answer is another node's answer.
type Answer struct {
	Node string // its name for people
	Data json.RawMessage
}

// Said is the part of a node's note.
type Said struct {
	Name      string     `json:"name,omitempty"`
	Questions []question `json:"questions,omitempty"`
	Answers   []answer   `json:"answers,omitempty"`
}

type question struct {
	ID   string `json:"id"` // no other question has it
	Text string `json:"text"`

	done   bool
	answer json.RawMessage
}

type answer struct {
	ID   string          `json:"id"` // of the question
	Data json.RawMessage `json:"data"`
}

// New returns a Desk that knows of no other node.
func New(c Config) *Desk {
	return &Desk{
		cfg: c, changed: make(chan struct{}, 1), work: make(chan struct{}, 1), slots: make(chan struct{}, mostOpen),
		open: map[string]*inquiry{}, asked: map[string]*question{},
	}
}

// Ask asks every other node that has a session, and waits for their answers: four seconds at most, less if ctx ends.
// silent are the nodes that gave none, by their names for people. A node without a fleet asks no one.
func (d *Desk) Ask(ctx context.Context, text string) (answers []Answer, silent []string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return nil, d.names()
	}
	id := rand.Text()
	q := d.begin(id, text)
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
func (d *Desk) begin(id, text string) *inquiry {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.joined {
		return nil
	}
	q := &inquiry{text: text[:min(len(text), mostQuestion)], done: make(chan struct{})}
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
	s := Said{Name: d.cfg.Name}
	room -= len(s.Name) + memberBytes
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

// Hear takes what each other node with a session said last, by its name.
func (d *Desk) Hear(others map[string]Said) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.asked
	d.others, d.asked = map[string]string{}, map[string]*question{}
	for node, s := range others {
		d.others[node] = cmp.Or(s.Name, node)
	}
	for _, q := range d.open {
		if q.silent == nil {
			q.silent = maps.Clone(d.others)
		}
	}
	for node, s := range others {
		for _, a := range s.Answers {
			d.takeLocked(node, a)
		}
		for _, q := range s.Questions[:min(len(s.Questions), mostOpen)] {
			if d.asked[q.ID] = before[q.ID]; d.asked[q.ID] == nil {
				d.asked[q.ID] = &q
				ring(d.work)
			}
		}
	}
	for id, q := range d.open {
		if len(q.silent) == 0 {
			delete(d.open, id)
			close(q.done)
		}
	}
}

// takeLocked takes a node's answer if its question is open.
func (d *Desk) takeLocked(node string, a answer) {
	q := d.open[a.ID]
	if q == nil {
		return
	}
	if _, waits := q.silent[node]; !waits {
		return
	}
	delete(q.silent, node)
	q.answers = append(q.answers, Answer{d.others[node], a.Data})
}

// Run answers questions until ctx ends.
func (d *Desk) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.work:
		}
		for q := d.next(); q != nil && ctx.Err() == nil; q = d.next() {
			data := d.cfg.AnswerFunc(ctx, q.Text)
			d.mu.Lock()
			q.done = true
			if len(data) <= MostAnswer && json.Valid(data) {
				q.answer = data
			}
			d.mu.Unlock()
			ring(d.changed)
		}
	}
}

// next returns a question that isn't answered; nil: there is none.
func (d *Desk) next() *question {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.asked {
		if !q.done {
			return q
		}
	}
	return nil
}

func ring(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
