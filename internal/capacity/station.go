package capacity

import "time"

// station is the cores of a machine with one queue before them. Work isn't interrupted.
type station struct {
	c       *clock
	cores   int
	wake    float64 // ms; work that finds no core free takes so long more
	busy    gauge
	stalled int // woken, and not yet in the queue
	waiting fifo[burst]
}

// burst is work for one core. size, if there is one, says only at the begin how long it takes.
type burst struct {
	takes time.Duration
	size  func() time.Duration
	then  func()
}

// run computes for d, once a core is free. Work that others woke pays for a switch if it has to wait.
func (s *station) run(d time.Duration, woken bool, then func()) {
	if d == 0 && !woken {
		then()
		return
	}
	if woken && s.wake > 0 && s.busy.level+s.waiting.len()+s.stalled >= s.cores {
		s.stalled++
		s.c.after(s.c.around(s.wake, 1), func() {
			s.stalled--
			s.put(burst{takes: d, then: then})
		})
		return
	}
	s.put(burst{takes: d, then: then})
}

// put is run for a burst.
func (s *station) put(b burst) {
	if s.busy.level < s.cores {
		s.begin(b)
		return
	}
	s.waiting.push(b)
}

func (s *station) begin(b burst) {
	s.busy.add(s.c, 1)
	if b.size != nil {
		b.takes = b.size()
	}
	s.c.after(b.takes, func() {
		s.busy.add(s.c, -1)
		if s.waiting.len() > 0 {
			s.begin(s.waiting.pop())
		}
		b.then()
	})
}

// syncer is the disk of the database's log: a flush makes all commits durable that wait when it begins. It ends once its
// process is back on a core, and those of the other commits follow.
type syncer struct {
	c             *clock
	cpu           *station
	fsync, jitter float64
	busy          gauge
	flushes       int
	waiting       []func()
}

func (l *syncer) commit(then func()) {
	l.waiting = append(l.waiting, then)
	if l.busy.level == 0 {
		l.flush()
	}
}

func (l *syncer) flush() {
	all := l.waiting
	l.waiting = nil
	l.busy.add(l.c, 1)
	l.c.after(l.c.around(l.fsync, l.jitter), func() {
		l.cpu.run(0, true, func() {
			l.busy.add(l.c, -1)
			l.flushes++
			if len(l.waiting) > 0 {
				l.flush()
			}
			all[0]()
			for _, then := range all[1:] {
				l.cpu.run(0, true, then)
			}
		})
	})
}

// want is a lock that a transaction takes.
type want struct {
	id        int
	exclusive bool
}

// lock is one advisory lock. Who comes first has it first; those who share it have it together.
type lock struct {
	shared, exclusive int
	queue             fifo[waiter]
	held              gauge // exclusively
}

type waiter struct {
	exclusive bool
	then      func()
}

// locks are the database's advisory locks.
type locks struct {
	c   *clock
	all map[int]*lock
}

// take takes the locks one after the other, in their order, and then calls then.
func (l *locks) take(wants []want, then func()) {
	if len(wants) == 0 {
		then()
		return
	}
	first, rest := wants[0], wants[1:]
	k := l.all[first.id]
	if k == nil {
		k = &lock{}
		l.all[first.id] = k
	}
	k.queue.push(waiter{first.exclusive, func() { l.take(rest, then) }})
	l.grant(k)
}

// grant lets in whom the lock has room for.
func (l *locks) grant(k *lock) {
	for k.queue.len() > 0 && k.exclusive == 0 {
		first := k.queue.all[k.queue.head]
		if first.exclusive && k.shared > 0 {
			return
		}
		k.queue.pop()
		if first.exclusive {
			k.exclusive++
			k.held.add(l.c, 1)
		} else {
			k.shared++
		}
		first.then()
	}
}

func (l *locks) release(wants []want) {
	for _, w := range wants {
		k := l.all[w.id]
		if w.exclusive {
			k.exclusive--
			k.held.add(l.c, -1)
		} else {
			k.shared--
		}
	}
	for _, w := range wants {
		l.grant(l.all[w.id])
	}
}
