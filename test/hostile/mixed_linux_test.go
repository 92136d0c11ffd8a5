package hostile_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/test/harness"
)

// TestMixedAttack: a thousand connections that send a header very slowly and, beside them, bodies of a gigabyte and
// ones nested 100,000 deep, by keys that send one request after the other, delay no other client.
func TestMixedAttack(t *testing.T) {
	s := harness.NewServer(t)
	slow := 50
	s.Config = "limits: {creates_per_minute: 0, connections: 128, connections_per_address: 64}\n"
	if long(t) {
		slow, s.Config = 1000, "limits: {creates_per_minute: 0}\n"
	}
	s.Start()
	held(t, s, fmt.Sprintf("%d slow connections, nested and endless bodies", slow), func(o order) {
		attackers := begin(t, s, "crowd", last, order{Slow: slow})
		attackers.hear(new(string))
		defer attackers.end()
		statuses := map[int]int{}
		attack(t, s, "mixed", o, &statuses)
		t.Logf("answers: %v", statuses)
		if statuses[http.StatusBadRequest] == 0 {
			t.Error("no nested body was judged")
		}
		delete(statuses, http.StatusBadRequest)
		refusedAlone(t, statuses, http.StatusRequestEntityTooLarge)
	}, order{Keys: attackers(s), For: watchTime(t)}, 2)
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
