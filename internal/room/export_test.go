package room

import "fmt"

// Left describes the room that isn't back yet, "" if all is.
func (r *Room) Left() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken == 0 && len(r.by) == 0 && len(r.waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("%d bytes of %d keys are taken, and %d claims wait", r.taken, len(r.by), len(r.waiting))
}
