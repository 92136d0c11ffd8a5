package simulate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/simulate"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

type noSupplier struct{}

func (noSupplier) Submit(context.Context, supplier.Request) (supplier.Outcome, error) {
	panic("a simulation sends nothing")
}

// at is a route whose price is so many USD per million tokens, in and out.
func at(name string, price task.Money, places int) routing.Route {
	return routing.Route{
		Capability: "text.chat", Supplier: name, Model: "m", Approved: true, Mode: task.Live, Adapter: noSupplier{}, Cap: places,
		Price: task.Price{Unit: task.PerMillionTokens, Input: price * task.USD, Output: price * task.USD},
	}
}

// every is requests of a thousand tokens, so many apart.
func every(n int, apart time.Duration) (all []simulate.Arrival) {
	size := task.Usage{InputTokens: 500, OutputTokens: 500}
	for i := range n {
		all = append(all, simulate.Arrival{At: time.Duration(i) * apart, Capability: "text.chat", Estimate: size, Size: size})
	}
	return all
}

func mustRun(t *testing.T, c simulate.Config) simulate.Report {
	t.Helper()
	var err error
	if c.Catalog, err = catalog.Default(); err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhatIf changes one thing at a time under 100 requests, one a second, that take one to three.
func TestWhatIf(t *testing.T) {
	type share map[string]int
	shut := []simulate.Outage{{From: 20 * time.Second, To: 50 * time.Second}}
	for name, tt := range map[string]struct {
		cheap, dear routing.Route
		outages     map[string][]simulate.Outage
		want        share
		refused     map[fault.Code]int
		failovers   int
		cost        string
	}{
		"as it is":      {cheap: at("cheap", 1, 0), dear: at("dear", 2, 0), want: share{"cheap/m": 100}, cost: "0.1"},
		"another price": {cheap: at("cheap", 3, 0), dear: at("dear", 2, 0), want: share{"dear/m": 100}, cost: "0.2"},
		// Results from before keep it going for a second; tripped at 25, probed at 36, 47 and 58, and back at 61.
		"an outage":   {at("cheap", 1, 0), at("dear", 2, 0), map[string][]simulate.Outage{"cheap/m": shut}, share{"cheap/m": 60, "dear/m": 40}, nil, 8, "0.14"},
		"all are out": {at("cheap", 1, 0), at("dear", 2, 0), map[string][]simulate.Outage{"cheap/m": {{0, time.Hour}}, "dear/m": {{0, time.Hour}}}, share{}, map[fault.Code]int{fault.ProviderUnavailable: 100}, 13, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := mustRun(t, simulate.Config{
				Routes: []routing.Route{tt.cheap, tt.dear}, Arrivals: every(100, time.Second), Outages: tt.outages,
				Latency: map[string]time.Duration{"cheap/m": 2 * time.Second, "dear/m": 2 * time.Second},
			})
			had := share{}
			for _, r := range got.Routes {
				if r.Succeeded > 0 {
					had[r.Route] = r.Succeeded
				}
			}
			if diff := cmp.Diff(tt.want, had); diff != "" {
				t.Errorf("who had them (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.refused, got.Refused, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			if got.Failovers != tt.failovers || got.Cost != tt.cost {
				t.Errorf("%d failovers, $%s; want %d, $%s", got.Failovers, got.Cost, tt.failovers, tt.cost)
			}
		})
	}
}

// TestCapsAreKept sends ten at once to three places: a request without room waits two seconds.
func TestCapsAreKept(t *testing.T) {
	got := mustRun(t, simulate.Config{
		Routes: []routing.Route{at("cheap", 1, 2), at("dear", 2, 1)}, Arrivals: every(10, 0),
		Latency: map[string]time.Duration{"cheap/m": time.Minute, "dear/m": time.Minute},
	})
	want := simulate.Report{
		Tasks: 10, Succeeded: 3, Refused: map[fault.Code]int{fault.CapacityExhausted: 7}, Cost: "0.004", Latency: got.Latency,
		Routes: []simulate.RouteReport{
			{Capability: "text.chat", Route: "cheap/m", Attempts: 2, Succeeded: 2, Cost: "0.002", Passed: map[string]int{"full": 8}},
			{Capability: "text.chat", Route: "dear/m", Attempts: 1, Succeeded: 1, Cost: "0.002", Passed: map[string]int{"full": 7}},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(simulate.RouteReport{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if l := got.Latency; l.P50 < 30 || l.Max > 90 || l.P50 > l.P90 || l.P99 > l.Max {
		t.Errorf("%+v", l)
	}
}

// TestSeedRepeats draws a pattern and replays it twice; every request ends in one way.
func TestSeedRepeats(t *testing.T) {
	run := func(seed uint64) simulate.Report {
		p := simulate.Pattern{
			Capability: "text.chat", Seed: seed, For: 10 * time.Minute, Rate: 2, Burst: 20, BurstEvery: time.Minute, InputTokens: 300, OutputTokens: 200,
		}
		all, err := p.Arrivals()
		if err != nil {
			t.Fatal(err)
		}
		return mustRun(t, simulate.Config{
			Routes: []routing.Route{at("cheap", 1, 4), at("dear", 2, 4)}, Arrivals: all, Seed: seed,
			Outages: map[string][]simulate.Outage{"cheap/m": {{From: time.Minute, To: 2 * time.Minute}}},
		})
	}
	first := run(1)
	if diff := cmp.Diff(first, run(1), cmpopts.IgnoreUnexported(simulate.RouteReport{})); diff != "" {
		t.Errorf("the same seed (-first +second):\n%s", diff)
	}
	if cmp.Equal(first, run(2), cmpopts.IgnoreUnexported(simulate.RouteReport{})) {
		t.Error("another seed gives the same")
	}
	refused := 0
	for _, n := range first.Refused {
		refused += n
	}
	if first.Tasks < 1000 || first.Succeeded+refused != first.Tasks {
		t.Errorf("%+v", first)
	}
}

// TestReadArrivals reads the forms of a recorded pattern: whatever the order, times begin at the first.
func TestReadArrivals(t *testing.T) {
	type read struct {
		At         time.Duration
		Capability catalog.Name
		Size       task.Usage
		Estimated  int64 // tokens of the input
	}
	chats := []read{
		{0, "text.chat", task.Usage{InputTokens: 25, OutputTokens: 100}, 100},
		{1500 * time.Millisecond, "video.generate", task.Usage{Milliseconds: 4000}, 0},
	}
	const started, later = "2026-11-21T10:00:00Z", "2026-11-21T11:00:01.5+01:00"
	for name, tt := range map[string]struct {
		text string
		want []read
		err  string
	}{
		"lines":            {`{"at":1.5,"capability":"video.generate","seconds":4}` + "\n\n" + `{"at":0,"input_tokens":25,"output_tokens":100}`, chats, ""},
		"lines by clock":   {`{"at":"` + later + `","capability":"video.generate","seconds":4}` + "\n" + `{"id":"task_1","at":"` + started + `","input_bytes":100,"output_tokens":100}`, chats, ""},
		"a table":          {"at,capability,input_tokens,output_tokens,seconds\n1.5,video.generate,,,4\n0,,25,100,\n", chats, ""},
		"a table by clock": {" at , output_tokens,input_bytes,seconds,capability\n" + started + ",100,100,,text.chat\n" + later + ",,,4,video.generate\n", chats, ""},
		"times alone":      {`{"at":7}`, []read{{7 * time.Second, "text.chat", task.Usage{InputTokens: 3, Milliseconds: 2000}, 12}}, ""},
		"nothing":          {" \n", nil, ""},
		"both clocks":      {`{"at":1}` + "\n" + `{"at":"` + started + `"}`, nil, "line 2: at is seconds in one line and a time in another"},
		"another column":   {"at,colour\n1,red\n", nil, `line 2: no column is called "colour"`},
		"no number":        {"at,images\n1,many\n", nil, "line 2: images is no number"},
		"no time":          {"at\nsoon\n", nil, "line 2: at is a time in RFC 3339, or seconds"},
		"a row too long":   {"at\n1,2\n", nil, "record on line 2: wrong number of fields"},
		"an odd number":    {"at,seconds\n1,NaN\n", nil, "line 2: seconds are from 0 to a year"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := simulate.ReadArrivals(strings.NewReader(tt.text), simulate.Pattern{Capability: "text.chat", InputTokens: 3, Seconds: 2})
			if (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			var got []read
			for _, a := range all {
				got = append(got, read{a.At, a.Capability, a.Size, a.Estimate.InputTokens})
			}
			if name == "times alone" { // its size is drawn
				got[0].Size.InputTokens, got[0].Estimated = 3, 12
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzReadArrivals(f *testing.F) {
	f.Add(`{"at":1.5,"input_tokens":10}` + "\n\n" + `{"at":0,"capability":"image.generate","images":2,"parameters":{"n":2}}`)
	f.Add(`{"at":-1}`)
	f.Add(`{"at":1e300}`)
	f.Add(`{"at":1}{"at":2}`)
	f.Add("at,capability,input_bytes,seconds\n1.5,text.chat,10,\n0,video.generate,,4\n")
	f.Add("at\n2026-11-21T10:00:00Z\n1\n")
	f.Add(`{"at":"2026-11-21T10:00:00Z"}` + "\n" + `{"at":"2027-11-22T10:00:00.5Z","characters":3}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := simulate.ReadArrivals(strings.NewReader(text), simulate.Pattern{Capability: "text.chat", InputTokens: 9})
		if err != nil {
			return
		}
		if len(all) > strings.Count(text, "\n")+1 {
			t.Errorf("%d requests on fewer lines", len(all))
		}
		for i, a := range all {
			if a.At < 0 || (i > 0 && a.At < all[i-1].At) || a.Size.InputTokens < 0 || a.Size.Milliseconds < 0 {
				t.Errorf("%+v", a)
			}
		}
	})
}
