package storetest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

func testClaimWhich(e *env) {
	older := e.create(e.request("older")).Task
	pictures := e.request("pictures")
	pictures.Capability = image
	picture := e.create(pictures).Task
	newer := e.create(e.request("newer")).Task

	e.wantSame("no capability", leaseIDs(e.claim(10)), []string(nil))
	e.wantSame("limit 0", leaseIDs(e.claim(0, chat)), []string(nil))
	e.wantSame("another capability", leaseIDs(e.claim(10, "video.generate")), []string(nil))
	e.wantSame("the oldest of one", leaseIDs(e.claim(1, chat)), []string{older.ID})
	rest := e.claim(10, chat, image)
	e.wantSame("the rest", leaseIDs(rest), []string{picture.ID, newer.ID})
	e.wantSame("all leased", leaseIDs(e.claim(10, chat, image)), []string(nil))

	if _, err := e.Store.RequestCancel(e.Context(), acme, picture.ID); err != nil {
		e.Fatal(err)
	}
	e.begin(rest[1], plan("s", 1))
	e.lapse(term)
	e.wantSame("marked, and with an open attempt", leaseIDs(e.claim(10)), []string{picture.ID, newer.ID})
	e.lapse(time.Hour)
	e.wantSame("past the deadline", leaseIDs(e.claim(10)), []string{older.ID, picture.ID, newer.ID})
}

func testClaimTurns(e *env) {
	want := map[string][]string{}
	accounts := []string{"acct_a", "acct_b", "acct_c"}
	for i, count := range []int{5, 1, 3} {
		for k := range count {
			n := e.request(fmt.Sprint("key", k))
			n.Scope.Account = accounts[i]
			want[accounts[i]] = append(want[accounts[i]], e.create(n).Task.ID)
		}
	}
	a, b, c := want["acct_a"], want["acct_b"], want["acct_c"]
	e.wantSame("four", leaseIDs(e.claim(4, chat)), []string{a[0], b[0], c[0], a[1]})
	e.wantSame("the rest", leaseIDs(e.claim(9, chat)), []string{c[1], a[2], c[2], a[3], a[4]})
}

// testClaimMode has test tasks wait in a line of their own.
func testClaimMode(e *env) {
	n := e.request("test")
	n.Scope.Mode = task.Test
	tested := e.create(n).Task
	live := e.create(e.request("live")).Task
	e.wantSame("live", leaseIDs(e.claim(10, chat)), []string{live.ID})
	leases, err := e.Store.Claim(e.Context(), store.ClaimRequest{
		Node: e.node, Lines: []store.Line{{Mode: task.Test, Capability: chat}}, Limit: 10,
	})
	e.wantErr("Claim", err, nil)
	e.wantSame("test", leaseIDs(leases), []string{tested.ID})
}

// testClaimPlaces has more tasks than places: no more are handed out than can be started.
func testClaimPlaces(e *env) {
	var want []string
	for i := range 6 {
		want = append(want, e.create(e.request(fmt.Sprint("key", i))).Task.ID)
	}
	narrow, wide := plan("narrow", 1).Caps, plan("wide", 2).Caps
	claim := func(places ...[]task.Cap) []store.Lease {
		leases, err := e.Store.Claim(e.Context(), store.ClaimRequest{
			Node: e.node, Lines: []store.Line{{Mode: task.Live, Capability: chat, Places: places}}, Limit: 10,
		})
		e.wantErr("Claim", err, nil)
		return leases
	}
	e.wantSame("no route takes work", leaseIDs(claim([][]task.Cap{}...)), []string(nil))
	first := claim(narrow, wide)
	e.wantSame("three places", leaseIDs(first), want[:3])
	e.wantSame("all claimed", leaseIDs(claim(narrow, wide)), []string(nil))
	e.begin(first[0], plan("narrow", 1))
	e.wantSame("one started", leaseIDs(claim(narrow, wide)), []string(nil))
	e.advance(first[0], failed(task.Rejected))
	e.wantSame("one ended", leaseIDs(claim(narrow, wide)), want[3:4])
	e.advance(first[1], store.Step{Release: new(time.Duration)})
	e.wantSame("one given back", leaseIDs(claim(narrow, wide)), want[1:2])
	e.lapse(term)
	e.wantSame("leases run out", leaseIDs(claim(narrow, wide)), []string{want[1], want[2], want[3]})
}

func testClaimOnce(e *env) {
	const tasks = 60
	want := make([]string, tasks)
	for i := range want {
		want[i] = e.create(e.request(fmt.Sprint("key", i))).Task.ID
	}
	var mu sync.Mutex
	var got []string
	var wg sync.WaitGroup
	for w := range 8 {
		name := fmt.Sprint("node", w)
		e.wantErr("Renew", e.Store.Renew(e.Context(), name, term), nil)
		wg.Go(func() {
			for number := int64(1); ; number++ {
				leases, err := e.Store.Claim(background(), store.ClaimRequest{Node: name, Lines: lines(chat), Limit: 3, Number: number})
				mu.Lock()
				got = append(got, leaseIDs(leases)...)
				mu.Unlock()
				if err != nil {
					e.Errorf("Claim: %v", err)
				}
				if len(leases) == 0 {
					return
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(got)
	e.wantSame("each task once", got, want)
}
