package boltstore

// heap is a binary min-heap whose items know their place, so that any of them can be removed or
// moved. less must not change its mind about items inside without a call of fix.
type heap[T any] struct {
	items    []T
	less     func(a, b T) bool
	position func(item T, at int)
}

func (h *heap[T]) len() int { return len(h.items) }

func (h *heap[T]) push(item T) {
	h.items = append(h.items, item)
	h.position(item, len(h.items)-1)
	h.up(len(h.items) - 1)
}

// remove takes out the item at the given place.
func (h *heap[T]) remove(at int) {
	var zero T
	last := len(h.items) - 1
	h.swap(at, last)
	h.items[last] = zero
	h.items = h.items[:last]
	if at < last {
		h.fix(at)
	}
}

// fix restores the order after the item at the given place has changed.
func (h *heap[T]) fix(at int) {
	if !h.down(at) {
		h.up(at)
	}
}

func (h *heap[T]) up(at int) {
	for at > 0 {
		parent := (at - 1) / 2
		if !h.less(h.items[at], h.items[parent]) {
			return
		}
		h.swap(at, parent)
		at = parent
	}
}

func (h *heap[T]) down(at int) (moved bool) {
	for {
		least := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(h.items); child++ {
			if h.less(h.items[child], h.items[least]) {
				least = child
			}
		}
		if least == at {
			return moved
		}
		h.swap(at, least)
		at, moved = least, true
	}
}

func (h *heap[T]) swap(a, b int) {
	h.items[a], h.items[b] = h.items[b], h.items[a]
	h.position(h.items[a], a)
	h.position(h.items[b], b)
}
