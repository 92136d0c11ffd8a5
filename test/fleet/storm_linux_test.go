package fleet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/artifact/s3store/s3test"
	"unitask/internal/client"
	"unitask/internal/store/pgstore/pgtest"
	"unitask/internal/task"
	"unitask/test/harness"
)

// The sizes of the short run. A long one has the caps of more callers.
const (
	shortTasks   = 300
	shortCallers = 32
	longCallers  = 256
	longTasks    = 5000 // from here on a run is long
)

// The chat suppliers, cheapest first, and the charge of an answer by the routes' prices.
const (
	cheap                   = "cheap"
	dear                    = "dear"
	cheapCharge  task.Money = 10*1_000 + 10*2_000
	dearCharge   task.Money = 2 * cheapCharge
	stormTimeout            = 7 * time.Second // of a supplier's answer
)

// TestStorm is the fleet's big run: three nodes behind nginx on one database and one bucket do UNITASK_FLEET_TASKS mixed
// tasks of UNITASK_FLEET_CALLERS callers, while nodes are killed, paused past their lease, and stopped and started as
// another version with other settings, in turn, and the database restarts, at once and in order. The seed, which UNITASK_FLEET_SEED sets,
// decides the actions of callers and suppliers; the machine has its say too.
func TestStorm(t *testing.T) {
	if left := account.Month.Left(time.Now()); left < 30*time.Minute {
		t.Skipf("the month, and the budget's period with it, ends in %s", left)
	}
	s := newStorm(t)
	t.Logf("UNITASK_FLEET_SEED=%d UNITASK_FLEET_TASKS=%d UNITASK_FLEET_CALLERS=%d", s.seed, s.tasks, s.callers)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	sampled := s.sample(ctx)
	var all sync.WaitGroup
	for i := range s.callers {
		all.Go(func() { s.call(ctx, rand.New(rand.NewPCG(s.seed, uint64(i)+2))) })
	}
	called := make(chan struct{})
	go func() {
		all.Wait()
		close(called)
	}()
	s.faults()
	if !s.settle(called) {
		stop()
		<-called
	}
	s.took = time.Since(s.start)
	stop()
	s.judge(<-sampled)
}

// storm is a fleet behind nginx, its suppliers and its callers.
type storm struct {
	*fleet
	seed           uint64
	tasks, callers int
	cap            int // of each chat route
	start          time.Time
	took           time.Duration

	through *harness.Server // the nodes behind the proxy: a request goes to any of them
	watch   *watch
	chats   *harness.Chats
	jobs    *jobs
	env     []string
	lives   []int     // of each node
	version []version // those that the nodes change between
	runs    []int     // which of them each node runs

	budgets []*budget

	mu        sync.Mutex
	errands   []*errand
	done      int       // errands that have ended
	ended     time.Time // when the last of them did, or the run began
	followed  int       // texts that were read by a second stream, at any node
	faulted   bool
	counts    map[string]int // of faults, by kind
	surprises []string
}

// version is a program and its settings. All have the same schema of the database.
type version struct{ program, config string }

func newStorm(t *testing.T) *storm {
	t.Helper()
	tasks := int(harness.Setting(t, "UNITASK_FLEET_TASKS", shortTasks))
	callers := shortCallers
	if tasks >= longTasks {
		callers = longCallers
	}
	s := &storm{
		seed: harness.Setting(t, "UNITASK_FLEET_SEED", rand.Uint64()), tasks: tasks,
		callers: int(harness.Setting(t, "UNITASK_FLEET_CALLERS", uint64(callers))),
		watch:   &watch{}, lives: make([]int, 3), runs: make([]int, 3), counts: map[string]int{},
	}
	s.cap = max(s.callers/6, 2)
	s.fleet = &fleet{T: t, database: pgtest.Start(t, pgtest.Config{Sync: true}), key: account.NewKeySecret("svc", task.Live)}
	s.chats = harness.NewChats(t, rand.New(rand.NewPCG(s.seed, 0)), map[string]task.Money{cheap: cheapCharge, dear: dearCharge})
	s.chats.Draw, s.chats.Hang = drawChat, stormTimeout+time.Second
	s.chats.Watch = func(word string, r *http.Request) func() {
		return s.watch.enter(strings.Split(r.URL.Path, "/")[1], word, r)
	}
	s.jobs = newJobs(t, rand.New(rand.NewPCG(s.seed, 1)), s.watch)
	bucket := s3test.Start(t)
	s.env = append(s3test.Environ(), "UNITASK_STORE="+s.database.URL(),
		"UNITASK_ARTIFACTS=s3://"+s3test.Bucket+"/fleet?region=us-east-1&path_style=true&endpoint="+bucket.Endpoint())
	s.startNodes()
	s.newBudgets()
	s.start = time.Now()
	s.ended = s.start
	return s
}

// drawChat is the fate of a submission: mostly an answer, now and then one that takes longer than a pause of its node.
func drawChat(rng *rand.Rand) harness.Fate {
	f := harness.Fate{Charged: true, Answered: true, After: time.Duration(rng.IntN(600)) * time.Millisecond}
	switch rng.IntN(20) {
	case 0:
		f.After = lease + time.Duration(1000+rng.IntN(2000))*time.Millisecond
	case 1, 2, 3, 4:
		f = harness.Faulty(rng)
	}
	return f
}

// startNodes starts the proxy and the nodes behind it.
func (s *storm) startNodes() {
	s.Helper()
	var addresses []string
	for range s.lives {
		n := harness.NewServer(s.T)
		n.Bootstrap = s.key
		s.nodes = append(s.nodes, n)
		addresses = append(addresses, strings.TrimPrefix(n.Base, "http://"))
	}
	proxy := harness.NewProxy(s.T, harness.ProxyConfig{Folder: "../../deploy/compose/proxy", Nodes: addresses, Work: s.TempDir()})
	s.through = &harness.Server{T: s.T, Base: proxy.URL}
	maps := filepath.Join(s.TempDir(), "models.yaml")
	if err := os.WriteFile(maps, []byte(jobMaps), 0o600); err != nil {
		s.Fatal(err)
	}
	next := filepath.Join(s.TempDir(), "unitask")
	if err := harness.Build(next, "", "-ldflags", "-X main.version=0.0.0-next"); err != nil {
		s.Fatal(err)
	}
	s.version = []version{{harness.Binary(), s.configuration(maps, 4096)}, {next, s.configuration(maps, 4095)}}
	for i := range s.nodes {
		s.launch(i)
	}
	for _, n := range s.nodes {
		n.AwaitReady()
	}
}

func (s *storm) configuration(maps string, connections int) string {
	return fmt.Sprintf(`base_url: %q
trusted_proxies: [127.0.0.1]
limits: {lease: %s, connections: %d, creates_per_minute: 0, reads_per_minute: 0, open_tasks: 0, shutdown_grace: 5s, takeovers: 20}
suppliers:
  - {name: cheap, kind: openai, base_url: "%[4]s/cheap", api_key: env:STORM_LIFE, timeout: %[5]s}
  - {name: dear, kind: openai, base_url: "%[4]s/dear", api_key: env:STORM_LIFE, timeout: %[5]s}
  - {name: jobs, kind: fal, base_url: %[6]q, api_key: env:STORM_LIFE, timeout: %[5]s, models: [%[7]q]}
routes:
  text.chat:
    - {supplier: cheap, model: one, max_concurrent: %[8]d, price: {unit: mtok, input: "1", output: "2"}}
    - {supplier: dear, model: one, max_concurrent: %[8]d, price: {unit: mtok, input: "2", output: "4"}}
  image.generate: [{supplier: jobs, model: %[9]s, price: {unit: image, output: "0.01"}}]
  image.edit: [{supplier: jobs, model: %[10]s, price: {unit: image, output: "0.02"}}]
  video.generate: [{supplier: jobs, model: %[11]s, price: {unit: second, output: "0.001"}}]
`, s.through.Base, lease, connections, s.chats.Base, stormTimeout, s.jobs.base, maps, s.cap, pictureModel, editModel, filmModel)
}

// launch begins a node's next life, under a key of its own at the suppliers.
func (s *storm) launch(node int) {
	s.Helper()
	s.lives[node]++
	n := s.nodes[node]
	n.Program, n.Config = s.version[s.runs[node]].program, s.version[s.runs[node]].config
	n.Env = append(s.env[:len(s.env):len(s.env)], "STORM_LIFE="+s.life(node), "UNITASK_NODE_URL="+n.Base)
	n.Launch()
}

func (s *storm) life(node int) string { return lifeOf(node, s.lives[node]) }

// budget is a key with a limit that half of the callers reach at once.
type budget struct {
	id, secret string
	of         int // pictures
	bought     int // by now; guarded by storm.mu
}

// limit is the budget in nano-USD.
func (b *budget) limit() int64 { return int64(b.of) * int64(pictureCharge) }

// newBudgets makes a key for each rush.
func (s *storm) newBudgets() {
	s.Helper()
	admin, err := client.NewAdmin(s.nodes[0].Data())
	if err != nil {
		s.Fatal(err)
	}
	for range rushes {
		b := &budget{of: s.callers / 2}
		key, err := admin.CreateKey(s.Context(), api.KeyCreate{
			Name: "budget", Mode: task.Live,
			Limits: api.Limits{Budget: task.Money(b.limit()).String(), BudgetPeriod: string(account.Month)},
		})
		if err != nil {
			s.Fatal(err)
		}
		b.id, b.secret = key.ID, key.Secret
		s.budgets = append(s.budgets, b)
	}
}
