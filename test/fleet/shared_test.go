package fleet_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/test/harness"
)

// shareTime is how long it takes at most until all nodes know what one learnt.
const shareTime = 2 * time.Second

func (f *fleet) admin(node int) *client.Admin {
	f.Helper()
	admin, err := client.NewAdmin(f.nodes[node].Data())
	if err != nil {
		f.Fatal(err)
	}
	return admin
}

// route is how the paid supplier's route stands at a node.
func (f *fleet) route(node int) api.RouteState {
	f.Helper()
	all, err := f.admin(node).Suppliers(f.Context())
	if err != nil {
		f.Fatalf("node %d: %v", node, err)
	}
	for _, s := range all {
		if s.Name == harness.SupplierName {
			return s.Routes[0]
		}
	}
	f.Fatalf("node %d doesn't know the supplier", node)
	return api.RouteState{}
}

// TestTrippedEverywhere: a route that fails at one node is left alone by the others within two seconds, and they send
// it no request to find out.
func TestTrippedEverywhere(t *testing.T) {
	f := newFleet(t, 3)
	f.paid.Refuse(http.StatusInternalServerError, "")
	for i := range 5 {
		if reply, _ := f.create(0, fmt.Sprint("failing", i), "10"); reply.Status != http.StatusBadGateway {
			t.Fatalf("at a supplier that fails: %d %s", reply.Status, reply.Body)
		}
	}
	sent := len(f.paid.Sent())
	if sent != 5 {
		t.Fatalf("%d submissions of 5 tasks", sent)
	}
	for _, node := range []int{1, 2} {
		took := f.until(10*time.Second, "the others know", func() bool { return f.route(node).State == api.RoutePaused })
		if took > shareTime {
			t.Errorf("node %d knows after %s, want %s at most", node, took, shareTime)
		}
		if reply, _ := f.create(node, fmt.Sprint("elsewhere", node), "10"); reply.Status < http.StatusInternalServerError {
			t.Errorf("a task at node %d: %d %s", node, reply.Status, reply.Body)
		}
	}
	if now := len(f.paid.Sent()); now != sent {
		t.Errorf("the other nodes sent %d requests to a route that was tripped", now-sent)
	}
}

// TestOneProbe: a supplier's advice to one node is followed by all, and one request of the fleet tries it then.
func TestOneProbe(t *testing.T) {
	f := newFleet(t, 2)
	f.paid.Refuse(http.StatusTooManyRequests, "5")
	f.create(0, "refused", "0")
	f.until(5*time.Second, "the supplier has the submission", func() bool { return len(f.paid.Sent()) > 0 })
	took := f.until(10*time.Second, "the other node cools down", func() bool { return f.route(1).State == api.RoutePaused })
	if took > shareTime {
		t.Errorf("it cools down after %s, want %s at most", took, shareTime)
	}
	sent := len(f.paid.Sent())
	f.paid.Refuse(0, "")
	release := f.paid.Hold()
	defer release()
	word := 0
	f.until(20*time.Second, "a probe", func() bool {
		for node := range f.nodes {
			word++
			f.create(node, fmt.Sprint("probe", word), "0")
		}
		return len(f.paid.Sent()) > sent
	})
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		for node := range f.nodes {
			word++
			f.create(node, fmt.Sprint("probe", word), "0")
		}
	}
	if probes := len(f.paid.Sent()) - sent; probes != 1 {
		t.Errorf("%d probes of two nodes, want 1", probes)
	}
	release()
	took = f.until(10*time.Second, "both nodes know that it works", func() bool {
		return f.route(0).State == api.RouteOpen && f.route(1).State == api.RouteOpen
	})
	if took > shareTime {
		t.Errorf("they know after %s, want %s at most", took, shareTime)
	}
}

// TestKeyOfOneNode: a supplier that refuses one node's key is left alone by that node, and serves the others.
func TestKeyOfOneNode(t *testing.T) {
	f := newFleet(t, 2)
	f.paid.Refuse(http.StatusUnauthorized, "")
	f.create(0, "refused", "0")
	f.until(5*time.Second, "the node rests the route", func() bool { return f.route(0).State == api.RoutePaused })
	f.paid.Refuse(0, "")
	sent := len(f.paid.Sent())
	for end, word := time.Now().Add(2*shareTime), 0; time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if got := f.route(1); got.State != api.RouteOpen {
			t.Fatalf("at the other node the route is %s: %s", got.State, got.Reason)
		}
		word++
		if reply, _ := f.create(1, fmt.Sprint("elsewhere", word), "10"); reply.Status >= http.StatusBadRequest {
			t.Fatalf("a task at the other node: %d %s", reply.Status, reply.Body)
		}
		if now := len(f.paid.Sent()); now != sent+word {
			t.Fatalf("%d submissions of %d tasks", now-sent, word)
		}
	}
	if got := f.route(0); got.State != api.RoutePaused {
		t.Errorf("at the node whose key is refused the route is %s", got.State)
	}
}

// TestRequestsOfAllNodes: the request log of any node finds the requests that others answered, and names the nodes that
// don't answer.
func TestRequestsOfAllNodes(t *testing.T) {
	f := newFleetWith(t, 3, 30*time.Second) // a node that dies stays in the fleet during the test
	reply, made := f.create(0, "word", "30")
	f.get(1, made.ID)
	id := reply.Header.Get(api.HeaderRequestID)
	for node := range f.nodes {
		start := time.Now()
		one, err := f.admin(node).FindRequests(t.Context(), id)
		if err != nil || len(one.Data) != 1 || one.Data[0].TaskID != made.ID || one.Incomplete != nil {
			t.Errorf("node %d: the creation: %+v, %v", node, one, err)
		}
		both, err := f.admin(node).FindRequests(t.Context(), made.ID)
		methods := map[string]bool{} // in either order: nodes know the time some milliseconds apart
		for _, r := range both.Data {
			methods[r.Method] = true
		}
		if err != nil || len(both.Data) != 2 || !methods[http.MethodPost] || !methods[http.MethodGet] {
			t.Errorf("node %d: the task's requests: %+v, %v", node, both, err)
		}
		if took := time.Since(start); took > 6*time.Second {
			t.Errorf("node %d: two searches took %s", node, took)
		}
	}
	f.nodes[0].Kill()
	list, err := f.admin(1).FindRequests(t.Context(), made.ID)
	if err != nil || len(list.Data) != 1 || len(list.Incomplete) != 1 {
		t.Errorf("with a node that died: %+v, %v", list, err)
	}
	if _, err := f.admin(1).FindRequests(t.Context(), id); err == nil || !strings.Contains(err.Error(), list.Incomplete[0]) {
		t.Errorf("a request that the dead node answered: %v, want its name, %s", err, list.Incomplete)
	}
	if one, err := f.admin(2).FindRequests(t.Context(), list.Data[0].ID); err != nil || len(one.Data) != 1 || one.Incomplete != nil {
		t.Errorf("a request that a node has which lives: %+v, %v", one, err)
	}
}
