package boltstore_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/boltstore/wal"
	"unitask/internal/store/losstest"
	"unitask/internal/task"
)

const (
	shortCorruptions = 4 // of each kind; one store each
	longestReading   = 2 * time.Minute
)

// corruption damages one file of a store that was killed.
type corruption struct {
	file, kind string
	damage     func(r *rand.Rand, path string, u boltstore.Used) (where string, err error)
}

// corruptions are the rows of the table in docs/guarantees.md.
func corruptions() []corruption {
	var all []corruption
	for _, file := range []string{"database", "log"} {
		for _, kind := range []struct {
			name   string
			damage func(r *rand.Rand, path string, page, used int64) (string, error)
		}{{"truncated", truncate}, {"a byte flipped", flipByte}, {"64 bytes overwritten", overwrite}, {"a page zeroed", zero}} {
			all = append(all, corruption{file, kind.name, func(r *rand.Rand, path string, u boltstore.Used) (string, error) {
				if file == "database" {
					return kind.damage(r, path, u.Page, u.Page*u.Pages)
				}
				return kind.damage(r, fmt.Sprintf("%s.log%d", path, u.Newest), wal.PageSize, u.Logs[u.Newest])
			}})
		}
	}
	return append(all, corruption{"newest log", "missing", func(_ *rand.Rand, path string, u boltstore.Used) (string, error) {
		name := fmt.Sprintf("%s.log%d", path, u.Newest)
		return name, os.Remove(name)
	}})
}

func truncate(r *rand.Rand, path string, _, used int64) (string, error) {
	to := r.Int64N(used)
	return fmt.Sprintf("to %d bytes", to), os.Truncate(path, to)
}

func zero(r *rand.Rand, path string, page, used int64) (string, error) {
	at := r.Int64N(used/page) * page
	return fmt.Sprintf("at %d", at), writeAt(path, at, make([]byte, page))
}

func flipByte(r *rand.Rand, path string, _, used int64) (string, error) {
	return change(r, path, r.Int64N(used), 1)
}

func overwrite(r *rand.Rand, path string, _, used int64) (string, error) {
	return change(r, path, r.Int64N(used-64), 64)
}

// change changes each of n bytes.
func change(r *rand.Rand, path string, at int64, n int) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	for i := range n {
		raw[at+int64(i)] ^= byte(1 + r.IntN(255))
	}
	return fmt.Sprintf("at %d", at), writeAt(path, at, raw[at:at+int64(n)])
}

func writeAt(path string, at int64, raw []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(raw, at)
	return errors.Join(err, f.Close())
}

// TestCorruption kills a process that writes, damages its files in UNITASK_CORRUPT_CASES ways of each kind, and reads
// the rest in another process: it must not crash or hang, and an acknowledged task that is missing or changed must
// have been named by the start, by a check or by the read.
func TestCorruption(t *testing.T) {
	cases, err := strconv.Atoi(cmp.Or(os.Getenv("UNITASK_CORRUPT_CASES"), strconv.Itoa(shortCorruptions)))
	if err != nil {
		t.Fatalf("UNITASK_CORRUPT_CASES: %v", err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("UNITASK_CORRUPT_SEED"), strconv.FormatUint(rand.Uint64(), 10)), 10, 64)
	if err != nil {
		t.Fatalf("UNITASK_CORRUPT_SEED: %v", err)
	}
	t.Logf("UNITASK_CORRUPT_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	tally := map[string]*outcome{}
	for range cases {
		killed := killedStore(t)
		for _, c := range corruptions() {
			name := c.file + ", " + c.kind
			if tally[name] == nil {
				tally[name] = &outcome{}
			}
			tally[name].add(t, name, killed, c, r)
		}
	}
	for name, o := range tally {
		t.Logf("%-32s %d cases: %d refused by the start, %d named at work, %d by a check alone, %d without effect; %d crashes, %d silent losses",
			name, o.cases, o.started, o.read, o.checked, o.harmless, o.crashes, o.silent)
		if o.crashes > 0 || o.silent > 0 {
			t.Errorf("%s: %d crashes, %d silent losses", name, o.crashes, o.silent)
		}
	}
}

// deadStore is a store whose process was killed, with its acknowledged writes and their undamaged reading.
type deadStore struct {
	path string
	acks map[string]int64 // revisions, by task
	used boltstore.Used
	want reading
}

// killedStore kills processes on a store until its tree and its log have something to lose.
func killedStore(t *testing.T) deadStore {
	t.Helper()
	d := deadStore{path: filepath.Join(t.TempDir(), "unitask.db")}
	var record losstest.Record
	for kills := 0; ; kills++ {
		killOnce(t, &record, d.path, nil)
		if _, err := os.Stat(d.path); err != nil {
			continue
		}
		var err error
		if d.used, err = boltstore.UsedOf(d.path); err == nil && record.Tasks() >= 300 && kills >= 2 {
			break
		}
		if kills > 100 {
			t.Fatalf("after %d kills: %d tasks, %v", kills, record.Tasks(), err)
		}
	}
	d.acks = record.Revisions()
	sound, crash := d.read(t, func(string) error { return nil })
	if crash != nil || sound.Check != "" || sound.Open != "" || sound.Log != "" || sound.Work != "" {
		t.Fatalf("the undamaged store: %v, %+v", crash, sound)
	}
	d.want = sound
	if lost := d.want.lost(sound, d.acks); len(lost) > 0 || len(sound.Tasks) != len(d.acks) {
		t.Fatalf("the undamaged store lacks %v of %d", lost, len(d.acks))
	}
	return d
}

// read reads copies of the store, damaged by the function, in another process.
func (d deadStore) read(t *testing.T, damage func(path string) error) (got reading, crash error) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "case-*")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	served := filepath.Join(dir, servedName)
	for _, suffix := range []string{"", ".log0", ".log1"} {
		mustWriteFile(t, served+suffix, mustReadFile(t, d.path+suffix))
	}
	if err := damage(served); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", ".log0", ".log1"} {
		if raw, err := os.ReadFile(served + suffix); err == nil {
			mustWriteFile(t, filepath.Join(dir, checkedName)+suffix, raw)
		}
	}
	mustWriteFile(t, filepath.Join(dir, idsName), []byte(strings.Join(slices.Sorted(maps.Keys(d.acks)), "\n")))
	ctx, cancel := context.WithTimeout(t.Context(), longestReading)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), readerVariable+"="+dir)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return got, fmt.Errorf("%w: %.2000s", err, said.String())
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		return got, fmt.Errorf("%w: %s", err, said.String())
	}
	return got, nil
}

// outcome counts how cases of one kind ended.
type outcome struct{ cases, started, read, checked, harmless, crashes, silent int }

func (o *outcome) add(t *testing.T, name string, d deadStore, c corruption, r *rand.Rand) {
	t.Helper()
	var where string
	got, crash := d.read(t, func(path string) (err error) {
		where, err = c.damage(r, path, d.used)
		return err
	})
	o.cases++
	lost := d.want.lost(got, d.acks)
	switch {
	case crash != nil:
		o.crashes++
		t.Logf("%s, %s: crashed: %v", name, where, crash)
	case got.Open != "":
		o.started++
	case got.Log != "" || got.Work != "" || got.refused():
		o.read++
	case got.Check != "":
		o.checked++
		t.Logf("%s, %s: by a check alone: %.200s; %d tasks lost", name, where, got.Check, len(lost))
	case len(lost) > 0:
		o.silent++
		t.Logf("%s, %s: silent: %.500v", name, where, lost)
	default:
		o.harmless++
	}
}

const (
	readerVariable = "BOLTSTORE_TEST_READER"
	servedName     = "served.db"
	checkedName    = "checked.db"
	idsName        = "ids"
)

// reading is a process's view of a store: errors, and each task by its id and by its key.
type reading struct {
	Check, Open, Log, Work string // of a check, a start, its log, and operations
	Tasks                  map[string][2]string
}

const refusedPrefix = "error: "

// lost returns the tasks that got has not as they were, without a word of the read. The last writes, if not
// acknowledged, may be gone.
func (want reading) lost(got reading, acks map[string]int64) (ids []string) {
	for id, sums := range want.Tasks {
		for i, sum := range sums {
			found := got.Tasks[id][i]
			if found != sum && !strings.HasPrefix(found, refusedPrefix) && (revision(found) < acks[id] || revision(found) >= revision(sum)) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// revision returns the number at the beginning of a summary, 0 without one.
func revision(summary string) (n int64) {
	_, _ = fmt.Sscanf(summary, "%d ", &n)
	return n
}

// refused reports whether a read said that something is wrong.
func (r reading) refused() bool {
	for _, sums := range r.Tasks {
		if strings.HasPrefix(sums[0], refusedPrefix) || strings.HasPrefix(sums[1], refusedPrefix) {
			return true
		}
	}
	return false
}

// beReader checks one copy of a store and serves from the other, and writes down the answers.
func beReader(dir string) {
	var got reading
	ctx := context.Background()
	if err := checkCopy(ctx, filepath.Join(dir, checkedName)); err != nil {
		got.Check = err.Error()
	}
	ids, err := os.ReadFile(filepath.Join(dir, idsName))
	if err == nil {
		var log bytes.Buffer
		err = serveCopy(ctx, filepath.Join(dir, servedName), strings.Fields(string(ids)), &got,
			slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
		got.Log = log.String()
	}
	if err != nil {
		got.Open = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func checkCopy(ctx context.Context, path string) error {
	o, err := boltstore.OpenOffline(path)
	if err != nil {
		return err
	}
	report, err := o.Check(ctx, boltstore.CheckConfig{Now: time.Now})
	if len(report.Findings) > 0 {
		err = errors.Join(err, fmt.Errorf("%d findings, the first: %+v", len(report.Findings), report.Findings[0]))
	}
	return errors.Join(err, o.Close())
}

// serveCopy opens the store as a server does and reads, claims, sweeps and writes.
func serveCopy(ctx context.Context, path string, ids []string, got *reading, log *slog.Logger) error {
	var fatal error
	db, err := boltstore.Open(boltstore.Config{Path: path, NoSync: true, Logger: log, Fatal: func(err error) { fatal = err }})
	if err != nil {
		return err
	}
	got.Tasks = map[string][2]string{}
	for _, id := range ids {
		byID, byKey, errs := losstest.ReadTask(ctx, db, id)
		got.Tasks[id] = [2]string{summary(byID, errs[0]), summary(byKey, errs[1])}
	}
	renewed := db.Renew(ctx, testNode, time.Hour)
	listed := losstest.ListAll(ctx, db)
	_, claimed := db.Claim(ctx, store.ClaimRequest{Node: testNode, Limit: 1000, Lines: []store.Line{{Mode: task.Live, Capability: "text.chat"}}})
	_, swept := db.Sweep(ctx, store.SweepRequest{Retention: time.Hour, Limit: 100})
	_, created := db.CreateTask(ctx, freshTask())
	if err := errors.Join(listed, renewed, claimed, swept, created, db.Close(), fatal); err != nil {
		got.Work = err.Error()
	}
	return nil
}

// summary tells a task from all others and from its other states.
func summary(t task.Task, err error) string {
	if errors.Is(err, store.ErrNotFound) {
		return "missing"
	}
	if err != nil {
		return refusedPrefix + err.Error()
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return refusedPrefix + err.Error()
	}
	return fmt.Sprintf("%d %x", t.Revision, sha256.Sum256(raw))
}

// TestCorruptionIsFound is the control: a reading without a word in which one task is missing, or another, is
// a silent loss.
func TestCorruptionIsFound(t *testing.T) {
	want := reading{Tasks: map[string][2]string{"a": {"2 x", "2 x"}, "b": {"5 y", "5 y"}}}
	acks := map[string]int64{"a": 2, "b": 4}
	for name, tt := range map[string]struct {
		got  reading
		lost int
	}{
		"the same":             {want, 0},
		"one is missing":       {reading{Tasks: map[string][2]string{"a": {"2 x", "2 x"}, "b": {"missing", "5 y"}}}, 1},
		"one is changed":       {reading{Tasks: map[string][2]string{"a": {"2 x", "2 z"}, "b": {"5 y", "5 y"}}}, 1},
		"one is older":         {reading{Tasks: map[string][2]string{"a": {"1 x", "1 x"}, "b": {"5 y", "5 y"}}}, 2},
		"one was never told":   {reading{Tasks: map[string][2]string{"a": {"2 x", "2 x"}, "b": {"4 y", "4 y"}}}, 0},
		"nothing was read":     {reading{}, 4},
		"one read was refused": {reading{Tasks: map[string][2]string{"a": {"2 x", "2 x"}, "b": {refusedPrefix + "x", refusedPrefix + "x"}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if lost := want.lost(tt.got, acks); len(lost) != tt.lost {
				t.Errorf("got %v, want %d", lost, tt.lost)
			}
		})
	}
}
