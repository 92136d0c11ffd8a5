package gateway

import "time"

// crewIdle is how long a goroutine of a crew waits for its next task.
const crewIdle = 5 * time.Second

// crew runs functions on goroutines that take one after the other: a task's way is deep, and a new
// goroutine's stack would be copied several times on it.
type crew struct {
	next chan func()
	end  <-chan struct{}
}

func newCrew(end <-chan struct{}) crew { return crew{make(chan func()), end} }

// run runs f at once, on a goroutine that has nothing to do or on a new one.
func (c crew) run(f func()) {
	select {
	case c.next <- f:
	default:
		go c.work(f)
	}
}

func (c crew) work(f func()) {
	idle := time.NewTimer(crewIdle)
	defer idle.Stop()
	for {
		f()
		idle.Reset(crewIdle)
		select {
		case f = <-c.next:
		case <-idle.C:
			return
		case <-c.end:
			return
		}
	}
}
