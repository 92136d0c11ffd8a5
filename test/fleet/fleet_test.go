// Package fleet tests several nodes on one PostgreSQL database: real servers and a real database, on loopback.
package fleet_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/secret"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
	"unitask/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// lease is short, so that a test needn't wait long for a takeover.
const lease = 3 * time.Second

// fleet is some nodes behind no proxy: a test chooses the node of each request.
type fleet struct {
	*testing.T
	database *pgtest.Server
	paid     *harness.Supplier
	nodes    []*harness.Server
	key      string // live, accepted by all from their start on
}

func newFleet(t *testing.T, nodes int) *fleet {
	t.Helper()
	return newFleetWith(t, nodes, lease)
}

func newFleetWith(t *testing.T, nodes int, lease time.Duration, env ...string) *fleet {
	t.Helper()
	f := makeFleet(t, nodes, lease, env...)
	f.launch()
	return f
}

// makeFleet prepares nodes that don't run yet.
func makeFleet(t *testing.T, nodes int, lease time.Duration, env ...string) *fleet {
	t.Helper()
	f := &fleet{
		T: t, database: pgtest.Start(t, pgtest.Config{Sync: true}), paid: harness.NewSupplier(t),
		key: account.NewKeySecret("svc", task.Live),
	}
	for range nodes {
		s := harness.NewServer(t)
		s.Config = fmt.Sprintf("limits: {lease: %s}\n", lease) + f.paid.Config()
		s.Env = slices.Concat(env, []string{"UNITASK_STORE=" + f.database.URL(), "UNITASK_NODE_URL=" + s.Base})
		s.Bootstrap = f.key
		f.nodes = append(f.nodes, s)
	}
	return f
}

func (f *fleet) launch() {
	f.Helper()
	for _, s := range f.nodes {
		s.Launch() // at once: they make the tables, the first account and its key together
	}
	for _, s := range f.nodes {
		s.AwaitReady()
	}
}

// send makes a request to a node; the answer's body is read as a task.
func (f *fleet) send(node int, r harness.Request) (harness.Reply, api.Task) {
	f.Helper()
	if r.Key == "" {
		r.Key = f.key
	}
	reply, err := f.nodes[node].Send(f.Context(), r)
	if err != nil {
		f.Fatalf("node %d: %v", node, err)
	}
	var got api.Task
	_ = json.Unmarshal(reply.Body, &got) // an error's body is told by its status
	return reply, got
}

// create asks a node for a chat about a word, under the word as its idempotency key.
func (f *fleet) create(node int, word, wait string) (harness.Reply, api.Task) {
	f.Helper()
	return f.send(node, harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Body: fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":"%s"}}`, word),
		Header: map[string]string{api.HeaderIdempotencyKey: "key of " + word, api.HeaderPrefer: "wait=" + wait},
	})
}

func (f *fleet) get(node int, id string) api.Task {
	f.Helper()
	_, got := f.send(node, harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + id})
	return got
}

// until waits for a condition and returns how long it took.
func (f *fleet) until(limit time.Duration, what string, ok func() bool) time.Duration {
	f.Helper()
	start := time.Now()
	f.nodes[0].Until(limit, what, ok)
	return time.Since(start)
}

// TestAnyNode: any node accepts, replays, answers and cancels.
func TestAnyNode(t *testing.T) {
	f := newFleet(t, 3)
	reply, made := f.create(0, "word", "30")
	if reply.Status != http.StatusOK || made.State != task.Succeeded {
		t.Fatalf("created: %d %s", reply.Status, reply.Body)
	}
	reply, again := f.create(1, "word", "30")
	if again.ID != made.ID || reply.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("at another node: %d %s, want a replay of %s", reply.Status, reply.Body, made.ID)
	}
	if got := f.get(2, made.ID); got.State != task.Succeeded {
		t.Errorf("read at the third node: %s", got.State)
	}

	release := f.paid.Hold()
	defer release()
	_, waits := f.create(0, "held", "0")
	f.until(5*time.Second, "the supplier has the submission", func() bool { return len(f.paid.Sent()) == 2 })
	f.send(1, harness.Request{Method: http.MethodPost, Path: api.PathTasks + "/" + waits.ID + "/cancel"})
	// Within a second, to which the gateway's TestCancelThroughAnotherNode holds it on any machine.
	f.until(10*time.Second, "a cancellation through another node", func() bool { return f.get(2, waits.ID).State == task.Canceled })

	// A reader at another node hears of the end.
	_, follows := f.create(0, "followed", "0")
	f.until(5*time.Second, "the supplier has the submission", func() bool { return len(f.paid.Sent()) == 3 })
	time.AfterFunc(300*time.Millisecond, release)
	reply, got := f.send(1, harness.Request{
		Method: http.MethodGet, Path: api.PathTasks + "/" + follows.ID, Header: map[string]string{api.HeaderPrefer: "wait=20"},
	})
	if got.State != task.Succeeded {
		t.Errorf("waited at another node: %d %s", reply.Status, reply.Body)
	}
	if sent := len(f.paid.Sent()); sent != 3 {
		t.Errorf("%d submissions of 3 tasks", sent)
	}
}

// TestRevokedEverywhere: a key that is revoked at one node is refused by all within a second.
func TestRevokedEverywhere(t *testing.T) {
	f := newFleet(t, 2)
	admin, err := client.NewAdmin(f.nodes[0].Data())
	if err != nil {
		t.Fatal(err)
	}
	key, err := admin.CreateKey(t.Context(), api.KeyCreate{Name: "short", Mode: task.Live})
	if err != nil {
		t.Fatal(err)
	}
	list := harness.Request{Method: http.MethodGet, Path: api.PathTasks, Key: key.Secret}
	for node := range f.nodes {
		if reply, _ := f.send(node, list); reply.Status != http.StatusOK {
			t.Errorf("node %d: %d before the revocation", node, reply.Status)
		}
	}
	if _, err := admin.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	took := f.until(10*time.Second, "the other node refuses the key", func() bool {
		reply, _ := f.send(1, list)
		return reply.Status == http.StatusUnauthorized
	})
	if took > time.Second {
		t.Errorf("refused after %s, want a second at most", took)
	}
}

// TestOperatorAcrossNodes: an operator key makes a key at one node's public address, which another node takes, and once
// it is revoked there, all nodes refuse it within a second.
func TestOperatorAcrossNodes(t *testing.T) {
	f := newFleetWith(t, 2, lease, "UNITASK_OPERATOR_API=true")
	socket, err := client.NewAdmin(f.nodes[0].Data())
	if err != nil {
		t.Fatal(err)
	}
	ops, err := socket.CreateKey(t.Context(), api.KeyCreate{Name: "ops", Mode: account.Operator})
	if err != nil {
		t.Fatal(err)
	}
	var remote []*client.Admin
	for _, n := range f.nodes {
		one, err := client.NewRemoteAdmin(n.Base, secret.New(ops.Secret))
		if err != nil {
			t.Fatal(err)
		}
		remote = append(remote, one)
	}
	key, err := remote[0].CreateKey(t.Context(), api.KeyCreate{Name: "app", Mode: task.Live, Account: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	f.until(5*time.Second, "the other node knows the key", func() bool {
		reply, _ := f.send(1, harness.Request{Method: http.MethodGet, Path: api.PathTasks, Key: key.Secret})
		return reply.Status == http.StatusOK
	})
	if all, err := remote[1].ListKeys(t.Context()); err != nil || len(all) != 3 { // the fleet's own, the operator's and this
		t.Errorf("the other node lists %d keys, %v", len(all), err)
	}
	if _, err := remote[1].RevokeKey(t.Context(), ops.ID); err != nil { // its last request
		t.Fatal(err)
	}
	for i, one := range remote {
		took := f.until(10*time.Second, "the operator key is refused", func() bool {
			_, err := one.ListKeys(t.Context())
			return fault.CodeOf(err) == fault.Unauthenticated
		})
		if took > time.Second {
			t.Errorf("node %d refuses the operator key after %s, want a second at most", i, took)
		}
	}
}

// TestBudgetAcrossNodes: callers of three nodes share one budget exactly.
func TestBudgetAcrossNodes(t *testing.T) {
	if left := account.Month.Left(time.Now()); left < 5*time.Minute {
		t.Skipf("the month, and the budget's period with it, ends in %s", left)
	}
	f := newFleet(t, 3)
	const budget, callers, each = task.USD / 50, 9, 12
	admin, err := client.NewAdmin(f.nodes[0].Data())
	if err != nil {
		t.Fatal(err)
	}
	key, err := admin.CreateKey(t.Context(), api.KeyCreate{
		Name: "two cents", Mode: task.Live, Limits: api.Limits{Budget: budget.String(), BudgetPeriod: string(account.Month)},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.key = key.Secret
	defer f.paid.Hold()() // so that no reservation is settled
	var mu sync.Mutex
	accepted := 0
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := range each {
				reply, err := f.nodes[(caller+i)%3].Send(t.Context(), harness.Request{
					Method: http.MethodPost, Path: api.PathTasks, Key: key.Secret,
					Body:   `{"capability":"text.chat","input":{"prompt":"word"},"parameters":{"max_output_tokens":1000}}`,
					Header: map[string]string{api.HeaderIdempotencyKey: fmt.Sprintf("caller %d, %d", caller, i), api.HeaderPrefer: "wait=0"},
				})
				if err != nil {
					t.Errorf("caller %d: %v", caller, err)
					return
				}
				mu.Lock()
				if reply.Status == http.StatusAccepted {
					accepted++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	// A task reserves 1,000 tokens of output at 2 USD a million and some tokens of input.
	if accepted != 9 {
		t.Errorf("%d tasks for a budget of %s, want 9", accepted, budget)
	}
}

// TestKilledNode: the work of a node that is killed goes on at another, and isn't paid for twice.
func TestKilledNode(t *testing.T) {
	f := newFleet(t, 2)
	release := f.paid.Hold()
	defer release()
	_, made := f.create(0, "word", "0")
	f.until(5*time.Second, "the supplier has the submission", func() bool { return len(f.paid.Sent()) == 1 })
	f.nodes[0].Kill()
	took := f.until(30*time.Second, "the other node takes the task over", func() bool { return f.get(1, made.ID).State.Terminal() })
	got := f.get(1, made.ID)
	if got.State != task.Failed || got.Error == nil || !strings.Contains(string(got.Error.Code), "PROVIDER_TIMEOUT") {
		t.Errorf("a submission of unknown outcome: %+v", got)
	}
	if took > lease+5*time.Second {
		t.Errorf("taken over after %s, want %s and a little", took, lease)
	}
	if sent := len(f.paid.Sent()); sent != 1 {
		t.Errorf("%d submissions, want 1: it must not be sent again by itself", sent)
	}
	release()
	if reply, again := f.create(1, "word", "30"); again.ID != made.ID || again.State != task.Succeeded {
		t.Errorf("its caller's retry: %d %s", reply.Status, reply.Body)
	}
}

// placeIn is the variable that has files kept in a bucket.
func placeIn(bucket *s3test.Server) string {
	return "UNITASK_ARTIFACTS=s3://" + s3test.Bucket + "/fleet?region=us-east-1&path_style=true&endpoint=" + bucket.Endpoint()
}

// TestFilesAcrossNodes: a result of one node is fetched at another by the address that a third gives it, and a large
// input is found by whichever node works on it.
func TestFilesAcrossNodes(t *testing.T) {
	bucket := s3test.Start(t)
	f := newFleetWith(t, 3, lease, append(s3test.Environ(), placeIn(bucket))...)
	f.key = f.nodes[0].MustNewKey(task.Test)
	f.until(5*time.Second, "the other nodes know the key", func() bool {
		reply, _ := f.send(2, harness.Request{Method: http.MethodGet, Path: api.PathTasks})
		return reply.Status == http.StatusOK
	})
	post := func(key, body string) api.Task {
		reply, got := f.send(0, harness.Request{
			Method: http.MethodPost, Path: api.PathTasks, Body: body,
			Header: map[string]string{api.HeaderIdempotencyKey: key, api.HeaderPrefer: "wait=30"},
		})
		if got.ID == "" {
			t.Fatalf("%d %s", reply.Status, reply.Body)
		}
		f.until(30*time.Second, "the task ends", func() bool { return f.get(1, got.ID).State.Terminal() })
		return f.get(1, got.ID)
	}
	painted := post("a picture of a fox", `{"capability":"image.generate","input":{"prompt":"a fox"}}`)
	if painted.State != task.Succeeded {
		t.Fatalf("the picture: %+v", painted)
	}
	image := painted.Output.Images[0]
	path := strings.TrimPrefix(image.URL, f.nodes[1].Base)
	reply, err := f.nodes[2].Send(t.Context(), harness.Request{Method: http.MethodGet, Path: path})
	if err != nil || reply.Status != http.StatusOK || int64(len(reply.Body)) != image.Bytes {
		t.Errorf("the picture at the third node: %d, %d bytes of %d, %v", reply.Status, len(reply.Body), image.Bytes, err)
	}
	prompt := strings.Repeat("Tell me about foxes. ", 5000)
	if large := post("a large input", `{"capability":"text.chat","input":{"messages":[{"role":"user","content":"`+prompt+`"}]}}`); large.State != task.Succeeded {
		t.Errorf("a task with a large input: %+v", large)
	}
}
