// Package power cuts the power of a disk while a process writes tasks and artifacts to it, and then compares the
// files with the acknowledged writes. The disk is an image with a file system of its own; the cut is that file
// system's own shutdown, which drops everything that isn't on the disk. A real disk's cache is not part of it.
package power_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"unitask/test/harness"
)

const (
	shortCuts   = 10
	cutsPerData = 25                     // then a new data folder: its first pages meet cuts too, and the checks stay short
	longestLife = 150 * time.Millisecond // after the first write; of every fourth process: after its start
	endTime     = time.Second            // a process that can't commit any more ends within it
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role, os.Getenv(folderVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestPowerCut cuts the power UNITASK_POWER_CUTS times on each file system: no acknowledged write is
// lost.
func TestPowerCut(t *testing.T) {
	cuts := int(harness.Setting(t, "UNITASK_POWER_CUTS", shortCuts))
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			run := &run{volume: newVolume(t, kind)}
			start := time.Now()
			for range cuts {
				if err := run.cutOnce(roleCareful); err != nil {
					t.Fatalf("after %d cuts: %v", run.cuts, err)
				}
			}
			t.Logf("%d cuts in %s: %d task writes and %d artifacts acknowledged, none lost; the slowest process ended %s after its cut",
				run.cuts, time.Since(start).Round(time.Second), run.writes, run.artifacts, run.slowest.Round(time.Millisecond))
			if run.writes < 10*cuts || run.artifacts < cuts {
				t.Error("the run put too little to the test")
			}
		})
	}
}

// TestPowerCutFindsNoSync is the control: without fsync, the same cuts lose acknowledged writes.
func TestPowerCutFindsNoSync(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			run := &run{volume: newVolume(t, kind)}
			if err := run.cutOnce(roleCareful); err != nil { // a file to lose from, not the loss of a file
				t.Fatal(err)
			}
			for range shortCuts {
				if err := run.cutOnce(roleNoSync); err != nil {
					t.Logf("found after %d cuts, as it should be: %.300s", run.cuts, err)
					return
				}
			}
			t.Errorf("%d cuts without fsync lost nothing of %d writes: the test proves nothing", run.cuts, run.writes)
		})
	}
}

// run is a row of power cuts on one disk.
type run struct {
	volume *volume

	cuts              int
	data              string   // the folder in use
	lines             []string // its acknowledged writes
	writes, artifacts int      // acknowledged in all folders
	slowest           time.Duration
}

// cutOnce lets a process write until the power is cut and returns the losses.
func (r *run) cutOnce(role string) error {
	t := r.volume.t
	t.Helper()
	if r.cuts%cutsPerData == 0 {
		if err := os.RemoveAll(r.data); err != nil {
			t.Fatal(err)
		}
		r.data, r.lines = filepath.Join(r.volume.dir, strconv.Itoa(r.cuts)), nil
	}
	r.cuts++
	r.write(role)
	r.volume.restore()
	check := command(t, roleChecker, r.data)
	check.Stdin = strings.NewReader(strings.Join(r.lines, ""))
	if out, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// write starts a writer, cuts the power at a random moment, and reads the writer's stream to its end.
func (r *run) write(role string) {
	t := r.volume.t
	t.Helper()
	writer := command(t, role, r.data)
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	writer.Stderr = &said
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	start, read := make(chan struct{}), make(chan []byte)
	go func() {
		stream := bufio.NewReader(out)
		_, _ = stream.Peek(1)
		close(start)
		all, _ := io.ReadAll(stream)
		read <- all
	}()
	if rand.IntN(4) > 0 {
		<-start
	}
	<-time.After(rand.N(longestLife))
	r.volume.cut()
	dark := time.Now()
	limit := time.AfterFunc(10*endTime, func() { _ = writer.Process.Kill() })
	all := <-read
	err = writer.Wait()
	limit.Stop()
	r.slowest = max(r.slowest, time.Since(dark))
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || !exit.Exited() || r.slowest > endTime {
		t.Errorf("the writer ended %s after the cut with %v, want its own end within %s: %s", time.Since(dark), err, endTime, said.String())
	}
	for line := range strings.Lines(string(all)) {
		if strings.HasPrefix(line, "artifact ") {
			r.artifacts++
		} else {
			r.writes++
		}
		r.lines = append(r.lines, line)
	}
}

func command(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, folderVariable+"="+dir)
	return cmd
}
