package task_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"unitask/internal/task"
)

var prefixes = []string{
	task.PrefixTask, task.PrefixRequest, task.PrefixArtifact, task.PrefixInput, task.PrefixKey, task.PrefixAccount,
}

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

func TestNewID(t *testing.T) {
	for _, prefix := range prefixes {
		id := task.NewID(prefix, t0)
		body, ok := strings.CutPrefix(id, prefix)
		if !ok || len(body) != 26 || strings.Trim(body, idAlphabet) != "" {
			t.Errorf("%q has the wrong shape", id)
		}
		for _, other := range prefixes {
			if got := task.ValidID(other, id); got != (other == prefix) {
				t.Errorf("ValidID(%q, %q) = %v", other, id, got)
			}
		}
	}
}

// TestIDsSortByTime: of two ids of different milliseconds the later one is the greater text.
func TestIDsSortByTime(t *testing.T) {
	last := int64(1)<<48 - 2 // the year 10889
	rapid.Check(t, func(t *rapid.T) {
		early := rapid.Int64Range(0, last).Draw(t, "early")
		late := rapid.Int64Range(early+1, last+1).Draw(t, "late")
		a := task.NewID(task.PrefixTask, time.UnixMilli(early))
		b := task.NewID(task.PrefixTask, time.UnixMilli(late))
		if a >= b {
			t.Fatalf("%d gives %q, %d gives %q", early, a, late, b)
		}
	})
	now := t0
	ids := make([]string, 0, 1000)
	for range cap(ids) {
		ids = append(ids, task.NewID(task.PrefixTask, now))
		now = now.Add(time.Millisecond)
	}
	if !slices.IsSorted(ids) {
		t.Error("a thousand milliseconds in a row aren't in order")
	}
}

// TestIDsAreUnique makes many in one millisecond, from many goroutines.
func TestIDsAreUnique(t *testing.T) {
	const makers, each = 8, 5000
	made := make([][]string, makers)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			for range each {
				made[i] = append(made[i], task.NewID(task.PrefixTask, t0))
			}
		})
	}
	wg.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(made...)))
	if n := len(slices.Compact(all)); n != makers*each {
		t.Errorf("%d of %d ids are different", n, makers*each)
	}
}

// TestDeriveID: the same id and salt give the same id, valid, of the same time, and others give others.
func TestDeriveID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(0, 1<<48-1).Draw(t, "at"))
		salt, other := rapid.String().Draw(t, "salt"), rapid.String().Draw(t, "other salt")
		from, another := task.NewID(task.PrefixTask, at), task.NewID(task.PrefixTask, at)
		got := task.DeriveID(task.PrefixArtifact, from, salt)
		if !task.ValidID(task.PrefixArtifact, got) || got != task.DeriveID(task.PrefixArtifact, from, salt) {
			t.Fatalf("%q and %q give %q", from, salt, got)
		}
		if a, b := strings.TrimPrefix(got, task.PrefixArtifact)[:9], strings.TrimPrefix(from, task.PrefixTask)[:9]; a != b {
			t.Fatalf("%q is of another time than %q", got, from)
		}
		if got == task.DeriveID(task.PrefixArtifact, another, salt) || (salt != other && got == task.DeriveID(task.PrefixArtifact, from, other)) {
			t.Fatalf("%q is derived twice", got)
		}
	})
}

// TestDerivedIDsStayTheSame pins the derivation: results that are kept must be found after an upgrade.
func TestDerivedIDsStayTheSame(t *testing.T) {
	const want = "art_0123456789f6es88bp8w0pb88b"
	if got := task.DeriveID(task.PrefixArtifact, "task_0123456789abcdefghjkmnpqrs", "images/0"); got != want {
		t.Errorf("derived %q, want %q", got, want)
	}
}

// FuzzValidID: a valid id is the prefix and 26 characters of the alphabet, and so safe in a path, a URL and a file
// name.
func FuzzValidID(f *testing.F) {
	f.Add(task.PrefixTask, task.NewID(task.PrefixTask, t0))
	f.Add(task.PrefixTask, "task_")
	f.Add(task.PrefixTask, "task_../../../../../etc/passwd.")
	f.Add(task.PrefixTask, "task_0123456789ABCDEFGHJKMNPQRS")
	f.Add(task.PrefixTask, "task_0123456789abcdefghilkmnpqr")
	f.Add(task.PrefixTask, "task_0123456789abcdefghjkmnpqr\x00")
	f.Add("", "0123456789abcdefghjkmnpqrs")
	f.Fuzz(func(t *testing.T, prefix, s string) {
		body, ok := strings.CutPrefix(s, prefix)
		want := ok && len(body) == 26 && strings.Trim(body, idAlphabet) == ""
		for _, r := range body {
			want = want && strings.ContainsRune(idAlphabet, r)
		}
		if got := task.ValidID(prefix, s); got != want {
			t.Errorf("ValidID(%q, %q) = %v, want %v", prefix, s, got, want)
		}
	})
}

// FuzzHashJSON: a parsed hash is written as the same digits, and no other text is parsed.
func FuzzHashJSON(f *testing.F) {
	whole := `"` + task.Hash{1, 2, 255}.String() + `"`
	for _, s := range []string{whole, strings.ToUpper(whole), `""`, `null`, `"00"`, `1`, whole[:64] + `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var h task.Hash
		if err := json.Unmarshal(in, &h); err != nil || string(bytes.TrimSpace(in)) == "null" {
			return
		}
		out, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var text string
		if err := json.Unmarshal(in, &text); err != nil {
			t.Fatalf("%q is read as a hash but is no string", in)
		}
		if want := `"` + strings.ToLower(text) + `"`; string(out) != want {
			t.Errorf("%q is written as %s", in, out)
		}
	})
}

func TestHashRefusals(t *testing.T) {
	for _, in := range []string{`""`, `"00"`, `1`, `[]`, `"` + strings.Repeat("0g", 32) + `"`, `"` + strings.Repeat("00", 33) + `"`} {
		var h task.Hash
		if err := json.Unmarshal([]byte(in), &h); err == nil {
			t.Errorf("%s is read as %s", in, h)
		}
	}
}
