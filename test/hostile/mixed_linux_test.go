package hostile_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/test/harness"
)

// TestMixedAttack: a thousand connections that send a header very slowly and, beside them, bodies of a gigabyte and ones
// nested 100,000 deep, by keys that send one request after the other, keep nobody else waiting.
func TestMixedAttack(t *testing.T) {
	s := harness.NewServer(t)
	slow := 50
	s.Config = "limits: {creates_per_minute: 0, connections: 128, connections_per_address: 64}\n"
	if long(t) {
		slow, s.Config = 1000, "limits: {creates_per_minute: 0}\n"
	}
	s.Start()
	keys, quiet := attackers(s), watch(s).stop(watchTime(t))
	release := gather(t, s, 0, slow)
	defer release()
	w := watch(s)
	statuses := map[int]int{}
	attack(t, s, "mixed", order{Keys: keys, For: watchTime(t)}, &statuses)
	busy := w.stop(0)
	t.Logf("%d slow connections and %d keys: %v; VmHWM %d MB; quiet: %s; attacked: %s", slow, len(keys), statuses, memory(s, "VmHWM")>>20, quiet, busy)
	if statuses[http.StatusBadRequest] == 0 {
		t.Error("no nested body was judged")
	}
	refused := map[int]int{}
	for status, n := range statuses {
		if status != http.StatusBadRequest {
			refused[status] = n
		}
	}
	refusedAlone(t, refused, http.StatusRequestEntityTooLarge)
	boundedMemory(t, s)
	busy.hold(t, quiet)
}

// attackMixed has each key send a body of a gigabyte or, by every other key, nested ones one after the other, until the
// time is over, and returns the answers' statuses.
func attackMixed(o order) any {
	const head = `{"capability":"text.chat","input":`
	nested := head + strings.Repeat("[", 100_000)
	var mu sync.Mutex
	statuses := map[int]int{}
	var all sync.WaitGroup
	end := time.Now().Add(o.For)
	for n, key := range o.Keys {
		all.Go(func() {
			for first := true; first || time.Now().Before(end); first = false {
				var status int
				if n%2 == 1 {
					status = endless(o.Target, key, true)
				} else {
					status = postRaw(o.Target, key, nested)
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return statuses
}
