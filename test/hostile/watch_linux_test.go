package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/test/harness"
)

// observation is a well-behaved client's observation: how long each answer took, and which were wrong.
type observation struct {
	Took  []time.Duration
	Wrong []string
}

// run sends one request after the other until ctx ends, and five at least.
func (u *observation) run(ctx context.Context, method, url, key, body string) {
	for n := 0; ctx.Err() == nil || n < 5; n++ {
		start := time.Now()
		if err := send(method, url, key, body, fmt.Sprintf("%s-%d", key[len(key)-8:], n)); err != nil {
			u.Wrong = append(u.Wrong, err.Error())
		}
		u.Took = append(u.Took, time.Since(start))
		time.Sleep(5 * time.Millisecond)
	}
}

// elsewhere is a client at another address than the attackers', which opens a connection for each request.
var elsewhere = &http.Client{
	Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext},
	Timeout:   time.Minute,
}

// send makes a request from elsewhere, which succeeds.
func send(method, url, key, body, idempotency string) error {
	request, err := http.NewRequest(method, url, strings.NewReader(body)) //nolint:noctx // the client has a timeout
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(api.HeaderIdempotencyKey, idempotency)
	resp, err := elsewhere.Do(request)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("%s %s", resp.Status, raw))
	}
	return errors.Join(err, resp.Body.Close())
}

// percentile returns the time within which p of a hundred answers came.
func (u *observation) percentile(p int) time.Duration {
	sorted := slices.Sorted(slices.Values(u.Took))
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

// watched is the observations of a probe of the server's health and of a well-behaved tenant.
type watched struct{ Health, Tenant observation }

// watchUntil is the part of whoever watches, until the end. The tenant creates tasks by a key of his own.
func watchUntil(o order, say func(any), end <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	var w watched
	var all sync.WaitGroup
	all.Go(func() { w.Health.run(ctx, http.MethodGet, "http://"+o.Target+api.PathHealth, o.Keys[0], "") })
	all.Go(func() {
		w.Tenant.run(ctx, http.MethodPost, "http://"+o.Target+api.PathTasks, o.Keys[0], `{"capability":"text.embed","input":{"texts":["hello"]}}`)
	})
	<-end
	cancel()
	all.Wait()
	say(w)
}

// watching watches the server until it is stopped.
type watching struct{ *process }

func watch(s *harness.Server) watching {
	s.T.Helper()
	return watching{begin(s.T, s, "watch", first, order{Keys: []string{keyOf(s, "tenant")}})}
}

func (w watching) stop() (saw watched) {
	w.t.Helper()
	w.process.stop()
	w.hear(&saw)
	w.end()
	return saw
}

// quiet watches a server without an attack.
func quiet(s *harness.Server) watched {
	s.T.Helper()
	w := watch(s)
	time.Sleep(watchTime(w.t))
	return w.stop()
}

// watchTime is how long a server is watched at least, attacked or not.
func watchTime(t *testing.T) time.Duration {
	if long(t) {
		return 8 * time.Second
	}
	return time.Second
}

func (w watched) String() string {
	return fmt.Sprintf("health p99 %s of %d, tenant p50 %s p99 %s of %d",
		w.Health.percentile(99), len(w.Health.Took), w.Tenant.percentile(50), w.Tenant.percentile(99), len(w.Tenant.Took))
}

// served fails the test after a bad answer; in the long form, which has the machine to itself, also after a slow one.
func (w watched) served(t *testing.T) {
	t.Helper()
	for who, u := range map[string]observation{"a probe": w.Health, "the tenant": w.Tenant} {
		if len(u.Wrong) > 0 {
			t.Errorf("%s was answered badly: %v", who, u.Wrong)
		}
		if got := u.percentile(99); long(t) && got > 100*time.Millisecond {
			t.Errorf("%s waited for %s", who, got)
		}
	}
}

// undisturbed fails the test after a bad answer, and in the long form if another tenant waited longer than so many
// times its quiet wait.
func (w watched) undisturbed(t *testing.T, quiet watched, times time.Duration) {
	t.Helper()
	w.served(t)
	if got, most := w.Tenant.percentile(99), times*quiet.Tenant.percentile(99); long(t) && got > most {
		t.Errorf("another tenant's p99 is %s, want at most %s", got, most)
	}
}

// held has attackers attack the server as fast as they can, and in the long form by a line of a gigabit a second, and
// holds it to its bounds: it serves others at any rate, and by the line a tenant waits only so many times as long as in
// quiet.
func held(t *testing.T, s *harness.Server, name string, attack func(order), o order, times time.Duration) {
	t.Helper()
	before := quiet(s)
	w := watch(s)
	attack(o)
	attacked := w.stop()
	attacked.served(t)
	t.Logf("%s by %d keys; VmHWM %d MB; quiet: %s; attacked: %s", name, len(o.Keys), memory(s, "VmHWM")>>20, before, attacked)
	if long(t) {
		o.Rate = gigabit
		w := watch(s)
		attack(o)
		attacked := w.stop()
		t.Logf("by a line: %s", attacked)
		attacked.undisturbed(t, before, times)
	}
	boundedMemory(t, s)
}
