package tui_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

var errAway = &client.UnreachableError{Where: "http://127.0.0.1:8420"}

// creation is one call of Submit.
type creation struct {
	Request api.CreateRequest
	Key     string
	Wait    time.Duration
}

// reading is one call of Get.
type reading struct {
	At   time.Time
	ETag string
	Wait time.Duration
}

// page is one call of List.
type page struct {
	Query  client.ListOptions
	Cursor string
	Limit  int
}

// fake is a service in memory. Its tasks change only when a test says so.
type fake struct {
	mu           sync.Mutex
	capabilities []api.Capability
	tasks        []api.Task // oldest first
	revision     map[string]int
	changed      chan struct{} // closed at each change
	fail         error         // of every call
	failGet      error         // of reads alone
	slow         time.Duration // the length of a list
	failCancel   map[string]error
	slowCancel   time.Duration
	canceled     []string
	failCreate   []error // of the next creations, nil without an error
	creations    []creation
	reads        map[string][]reading
	lists        int
	streams      map[string]chan event
	followed     int
	pages        []page         // the lists asked for
	looks        int            // how many tasks a page looks at, 0 for all
	reading      map[string]int // reads and lists ("") in flight
	most         int            // reads in flight at the same time
	overlapped   bool
	disk         disk
}

func newFake(all ...api.Capability) *fake {
	return &fake{
		disk:         disk{contents: map[string][]byte{}, there: map[string]bool{}},
		capabilities: all, revision: map[string]int{}, changed: make(chan struct{}),
		reads: map[string][]reading{}, reading: map[string]int{},
	}
}

func (f *fake) Capabilities(context.Context) ([]api.Capability, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.capabilities, f.fail
}

func (f *fake) Submit(_ context.Context, req api.CreateRequest, key string, wait time.Duration) (api.Task, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.creations = append(f.creations, creation{req, key, wait})
	if f.fail != nil {
		return api.Task{}, f.fail
	}
	if len(f.failCreate) > 0 {
		err := f.failCreate[0]
		f.failCreate = f.failCreate[1:]
		if err != nil {
			return api.Task{}, err
		}
	}
	t := openTask(len(f.tasks)+1, req.Capability)
	f.tasks = append(f.tasks, t)
	return t, nil
}

func (f *fake) Get(ctx context.Context, id string, o client.GetOptions) (client.Reading, error) {
	etag, wait := o.ETag, o.Wait
	f.mu.Lock()
	f.reads[id] = append(f.reads[id], reading{time.Now(), etag, wait})
	f.reading[id]++
	f.overlapped = f.overlapped || f.reading[id] > 1
	at := 0
	for _, n := range f.reading {
		at += n
	}
	f.most = max(f.most, at)
	f.mu.Unlock()
	end := time.After(wait)
	for {
		f.mu.Lock()
		r, err := f.readLocked(id, etag)
		changed := f.changed
		if err != nil || !r.NotModified || wait <= 0 {
			f.reading[id]--
			f.mu.Unlock()
			return r, err
		}
		f.mu.Unlock()
		select {
		case <-changed:
		case <-end:
			wait = 0
		case <-ctx.Done():
			wait = 0
		}
	}
}

// event is one event of a stream: a task, or else a piece of its text.
type event struct {
	task api.Task
	text string
}

// Hear tells the events that a test puts into the task's channel; without one it ends at once.
func (f *fake) Hear(ctx context.Context, id string, onTask func(api.Task), onText func(string)) error {
	f.mu.Lock()
	f.followed++
	from := f.streams[id]
	f.mu.Unlock()
	for from != nil {
		select {
		case e, ok := <-from:
			switch {
			case !ok:
				return nil
			case e.text != "":
				onText(e.text)
			default:
				onTask(e.task)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (f *fake) readLocked(id, etag string) (client.Reading, error) {
	at := slices.IndexFunc(f.tasks, func(t api.Task) bool { return t.ID == id })
	switch {
	case f.fail != nil:
		return client.Reading{}, f.fail
	case f.failGet != nil:
		return client.Reading{}, f.failGet
	case at < 0:
		return client.Reading{}, &client.Error{Fault: fault.New(fault.NotFound, "no such task"), RequestID: "req_9"}
	}
	t, now := f.tasks[at], `W/"`+strconv.Itoa(f.revision[id])+`"`
	t.RequestID = "req_2"
	if now == etag {
		return client.Reading{NotModified: true, ETag: now, RetryAfter: api.MinPoll}, nil
	}
	return client.Reading{Task: t, ETag: now, RetryAfter: api.MinPoll}, nil
}

// List lists as the service does: newest first, from below the cursor, looking at a few tasks only.
func (f *fake) List(_ context.Context, q client.ListOptions) (api.TaskList, error) {
	cursor, limit := q.Cursor, q.Limit
	q.Cursor, q.Limit = "", 0
	f.mu.Lock()
	f.lists++
	f.pages = append(f.pages, page{q, cursor, limit})
	f.reading[""]++
	f.overlapped = f.overlapped || f.reading[""] > 1
	f.mu.Unlock()
	time.Sleep(f.slow)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reading[""]--
	var p api.TaskList
	looked := 0
	for _, t := range slices.Backward(f.tasks) {
		if cursor != "" && t.ID >= cursor {
			continue
		}
		if len(p.Data) == limit || f.looks > 0 && looked == f.looks {
			return p, f.fail
		}
		looked++
		p.NextCursor = &t.ID
		if (q.State == "" || t.State == q.State) && (q.Capability == "" || t.Capability == q.Capability) {
			p.Data = append(p.Data, t)
		}
	}
	p.NextCursor = nil
	return p, f.fail
}

func (f *fake) Cancel(_ context.Context, id string) (api.Task, error) {
	f.mu.Lock()
	f.canceled = append(f.canceled, id)
	err, slow := cmp.Or(f.failCancel[id], f.fail), f.slowCancel
	f.mu.Unlock()
	time.Sleep(slow)
	if err != nil {
		return api.Task{}, err
	}
	return f.change(id, func(t *api.Task) { end(t, task.Canceled) }), nil
}

func (f *fake) Timeline(_ context.Context, id string) ([]api.Move, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.tasks {
		if t.ID == id {
			moves := []api.Move{{State: task.Queued, At: t.CreatedAt}}
			if t.State != task.Queued {
				moves = append(moves, api.Move{State: t.State, At: t.UpdatedAt})
			}
			return moves, f.fail
		}
	}
	return nil, f.fail
}

// set makes every call fail, or succeed.
func (f *fake) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

// hold makes these the tasks, oldest first.
func (f *fake) hold(tasks ...api.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tasks = tasks
}

// change makes a new revision of a task.
func (f *fake) change(id string, edit func(*api.Task)) api.Task {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.tasks, func(t api.Task) bool { return t.ID == id })
	f.tasks[at].UpdatedAt = api.Timestamp{Time: time.Now()}
	edit(&f.tasks[at])
	f.revision[id]++
	close(f.changed)
	f.changed = make(chan struct{})
	return f.tasks[at]
}

// readsOf returns the reads of a task so far.
func (f *fake) readsOf(id string) []reading {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.reads[id])
}

func openTask(n int, capability string) api.Task {
	now := api.Timestamp{Time: time.Now()}
	return api.Task{
		ID: fmt.Sprintf("task_%04d", n), Capability: capability, Mode: task.Test, State: task.Queued,
		CreatedAt: now, UpdatedAt: now,
	}
}

// end makes a task terminal.
func end(t *api.Task, s task.State) {
	t.State, t.FinishedAt = s, &t.UpdatedAt
	t.Progress = nil
}

func capability(name, title string, mode catalog.Mode, input, parameters string) api.Capability {
	return api.Capability{
		Name: catalog.Name(name), Title: title, Description: title + " as a prompt says.", Modality: "text", Mode: mode,
		InputSchema: json.RawMessage(input), ParametersSchema: json.RawMessage(parameters),
		Price: api.Price{Currency: "USD", Unit: task.PerImage, Input: "0", Output: "0.04"},
	}
}

func chat() api.Capability {
	c := capability("text.chat", "Chat", catalog.Sync, `{"properties":{
		"prompt":{"type":"string","description":"What to answer. Either this or messages."},
		"messages":{"type":"array","items":{"type":"object","properties":{"role":{"type":"string"}}}}
	},"oneOf":[{"required":["prompt"]},{"required":["messages"]}]}`, `{"properties":{
		"max_output_tokens":{"type":"integer","minimum":1,"maximum":4096,"default":1024,"description":"The most tokens of the answer."},
		"temperature":{"type":"number","minimum":0,"maximum":2}
	}}`)
	c.Price = api.Price{Currency: "USD", Unit: task.PerMillionTokens, Input: "0.05", Output: "0.08"}
	return c
}

func imageEdit() api.Capability {
	return capability("image.edit", "Edit images", catalog.Async, `{"properties":{
		"prompt":{"type":"string","description":"What to change."},
		"images":{"type":"array","items":{"type":"object","x-media":"image"},"description":"The images to change."},
		"mask":{"type":"object","x-media":"image","description":"Where it may be changed."},
		"authorization":{"type":"object","properties":{
			"person":{"type":"string","enum":["none","authorized"],"description":"Whether a person is shown."},
			"statement":{"type":"string"}
		},"required":["person"]}
	},"required":["prompt","images"]}`, `{"properties":{
		"format":{"type":"string","enum":["png","jpeg","webp"],"default":"png","description":"The file format."},
		"size":{"type":"string"},
		"stop":{"type":"array","items":{"type":"string"}},
		"sound":{"type":"boolean"},
		"level":{"enum":[1,2,3],"type":"integer"}
	}}`)
}
