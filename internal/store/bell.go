package store

import "sync"

// Bell wakes those who wait for a topic. The zero value is ready; it is safe for concurrent use. A pending ring
// absorbs those after it.
type Bell struct {
	mu      sync.Mutex
	waiting map[string]map[chan struct{}]struct{}
}

// Wake returns a channel that receives after each Ring of the topic; stop frees it and may be
// called more than once.
func (b *Bell) Wake(topic string) (ch <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = map[string]map[chan struct{}]struct{}{}
	}
	if b.waiting[topic] == nil {
		b.waiting[topic] = map[chan struct{}]struct{}{}
	}
	b.waiting[topic][c] = struct{}{}
	return c, func() { b.remove(topic, c) }
}

// Ring wakes everyone who waits for one of the topics. It never blocks.
func (b *Bell) Ring(topics ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, topic := range topics {
		for c := range b.waiting[topic] {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
}

func (b *Bell) remove(topic string, c chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting[topic], c)
	if len(b.waiting[topic]) == 0 {
		delete(b.waiting, topic)
	}
}
