package gateway

// stackRoom is about the stack of a synchronous task, in bytes.
const stackRoom = 12 << 10

// growStack grows the stack of a new goroutine in one step. A task's calls are deep, and a stack that doubles on their
// way is copied each time, with all frames on it: 4 % of a task's CPU. Inlined, its room would stay on the caller's frame
// and the task's calls would need as much again.
//
//go:noinline
func growStack() {
	var room [stackRoom]byte
	touch(&room)
}

//go:noinline
func touch(*[stackRoom]byte) {}
