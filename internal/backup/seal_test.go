package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/backup"
)

// archiveEntry is one file of an archive.
type archiveEntry struct {
	name, text string
	at         time.Time
}

func mustEntries(t *testing.T, raw []byte) []archiveEntry {
	t.Helper()
	var all []archiveEntry
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		text, readErr := io.ReadAll(r)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		all = append(all, archiveEntry{h.Name, string(text), h.ModTime})
	}
}

// mustPack writes entries with a manifest that is right about them, as who changes an archive would.
func mustPack(t *testing.T, all []archiveEntry) []byte {
	t.Helper()
	sum, m := sha256.New(), backup.Manifest{}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range all {
		switch {
		case e.name == "manifest.json":
			old := backup.Manifest{Format: 1, CreatedAt: now}
			if err := json.Unmarshal([]byte(e.text), &old); err != nil {
				t.Fatal(err)
			}
			old.Database, old.Files, old.FileBytes, old.SHA256 = m.Database, m.Files/2, m.FileBytes, hex.EncodeToString(sum.Sum(nil))
			raw, err := json.MarshalIndent(old, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			e.text = string(raw)
		case e.name == "unitask.db":
			m.Database = int64(len(e.text))
		case strings.HasPrefix(e.name, "artifacts/"):
			m.Files, m.FileBytes = m.Files+1, m.FileBytes+int64(len(e.text))
		}
		if _, err := fmt.Fprintf(sum, "%s %d\n%s", e.name, len(e.text), e.text); err != nil {
			t.Fatal(err)
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.text)), Mode: 0o600, ModTime: e.at}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func mustSeal(t *testing.T, raw []byte, key backup.Key) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := backup.Seal(&out, bytes.NewReader(raw), key); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSeal(t *testing.T) {
	raw, wrote := mustWrite(t)
	key := backup.NewKey()
	sealed := mustSeal(t, raw, key)
	whole := mustEntries(t, sealed)
	seal := len(whole) - 1
	forge := func(change func(all []archiveEntry) []archiveEntry) []byte {
		return mustPack(t, change(append([]archiveEntry(nil), whole...)))
	}
	copied, err := backup.ParseKey(key.Text() + "\n")
	if err != nil || copied != key {
		t.Errorf("a key's text isn't read back: %v", err)
	}
	for name, tt := range map[string]struct {
		raw   []byte
		terms backup.Terms
		want  error
	}{
		"sealed":                      {sealed, backup.Terms{Key: copied}, nil},
		"sealed, and nobody looks":    {sealed, unsealed, nil},
		"another key":                 {sealed, backup.Terms{Key: backup.NewKey()}, backup.ErrSeal},
		"no key":                      {sealed, backup.Terms{}, backup.ErrNoKey},
		"no seal":                     {raw, backup.Terms{Key: key}, backup.ErrNoSeal},
		"sealed by somebody else":     {mustSeal(t, raw, backup.NewKey()), backup.Terms{Key: key}, backup.ErrSeal},
		"no key, sealed by the empty": {mustSeal(t, raw, backup.Key{}), backup.Terms{}, backup.ErrNoKey},
		"another database": {forge(func(all []archiveEntry) []archiveEntry {
			all[0].text = "the database, and one more key"
			return all
		}), backup.Terms{Key: key}, backup.ErrSeal},
		"one file fewer": {forge(func(all []archiveEntry) []archiveEntry {
			return append(all[:1], all[3:]...)
		}), backup.Terms{Key: key}, backup.ErrSeal},
		"another time": {forge(func(all []archiveEntry) []archiveEntry {
			all[1].at = all[1].at.Add(-time.Hour)
			return all
		}), backup.Terms{Key: key}, backup.ErrSeal},
		"the seal taken off": {forge(func(all []archiveEntry) []archiveEntry { return all[:seal] }), backup.Terms{Key: key}, backup.ErrNoSeal},
		"two seals": {forge(func(all []archiveEntry) []archiveEntry {
			return append(all, all[seal])
		}), backup.Terms{Key: key}, backup.ErrArchive},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := backup.Verify(bytes.NewReader(tt.raw), tt.terms)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if err == nil && m.SHA256 != wrote.SHA256 {
				t.Errorf("the manifest is %+v, want that of %+v", m, wrote)
			}
		})
	}
	if text := fmt.Sprintf("%v %+v %#v %s", key, key, key, key); strings.Contains(text, key.Text()[20:]) || !strings.Contains(text, key.String()) {
		t.Errorf("a key prints as %s", text)
	}
	for _, bad := range []string{"", "unitask_backup_key_", key.Text()[:60], "x" + key.Text(), key.Text() + "A"} {
		if _, err := backup.ParseKey(bad); err == nil {
			t.Errorf("ParseKey(%q) took it", bad)
		}
	}
}

// holes is an archive of a few hundred bytes whose database is one hole of a size.
func holes(t *testing.T, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	// The tar package writes no sparse files: the records are written as a global text, byte by byte.
	records := ""
	for _, r := range []string{
		"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=unitask.db", fmt.Sprintf("GNU.sparse.realsize=%d", size),
	} {
		n := len(r) + 3
		for len(fmt.Sprintf("%d %s\n", n, r)) != n {
			n++
		}
		records += fmt.Sprintf("%d %s\n", n, r)
	}
	for _, e := range []struct {
		kind byte
		text string
	}{{tar.TypeReg, records}, {tar.TypeReg, fmt.Sprintf("1\n%d\n0\n%s", size, strings.Repeat("\x00", 512-len(fmt.Sprintf("1\n%d\n0\n", size))))}} {
		h := &tar.Header{Typeflag: e.kind, Name: "unitask.db", Size: int64(len(e.text)), Mode: 0o600, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	raw := out.Bytes()
	raw[156] = 'x' // the first entry is the second one's extended header
	sum := 0
	for i, b := range raw[:512] {
		if i >= 148 && i < 156 {
			b = ' '
		}
		sum += int(b)
	}
	copy(raw[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return raw
}

// TestUnpackWritesNoMoreThanThereIsRoomFor: a few bytes that stand for many fill no disk.
func TestUnpackWritesNoMoreThanThereIsRoomFor(t *testing.T) {
	const large = 8 << 20
	sparse := holes(t, large)
	if h, err := tar.NewReader(bytes.NewReader(sparse)).Next(); err != nil || h.Size != large || len(sparse) > 4<<10 {
		t.Fatalf("%d bytes stand for %+v, %v", len(sparse), h, err)
	}
	var packed bytes.Buffer
	pack, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	zeros := mustPack(t, []archiveEntry{{"unitask.db", strings.Repeat("\x00", large), now}, {"manifest.json", "{}", now}})
	if _, err := pack.Write(zeros); err != nil {
		t.Fatal(err)
	}
	if err := pack.Close(); err != nil {
		t.Fatal(err)
	}
	two := mustPack(t, []archiveEntry{
		{"unitask.db", strings.Repeat("\x00", 700), now}, {"artifacts/" + partName(t), strings.Repeat("\x00", 700), now}, {"manifest.json", "{}", now},
	})
	for name, tt := range map[string]struct {
		raw   []byte
		terms backup.Terms
		want  error
		most  int64 // bytes written
	}{
		"a hole":               {sparse, unsealed, backup.ErrArchive, 0},
		"packed zeros":         {packed.Bytes(), backup.Terms{Unsealed: true, Room: large - 1}, backup.ErrNoRoom, 0},
		"together too large":   {two, backup.Terms{Unsealed: true, Room: 1000}, backup.ErrNoRoom, 700},
		"packed zeros fit":     {packed.Bytes(), backup.Terms{Unsealed: true, Room: large}, nil, large},
		"more gzip at its end": {append(bytes.Clone(packed.Bytes()), packed.Bytes()...), unsealed, backup.ErrArchive, large},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := backup.Unpack(t.Context(), bytes.NewReader(tt.raw), dir, tt.terms); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			var wrote int64
			for name := range tree(t, dir) {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				wrote += info.Size()
			}
			if wrote > tt.most {
				t.Errorf("%d bytes of archive wrote %d, want at most %d", len(tt.raw), wrote, tt.most)
			}
		})
	}
}

// partName is a name that an archive may hold.
func partName(t *testing.T) string {
	t.Helper()
	raw, _ := mustWrite(t)
	return strings.TrimPrefix(mustEntries(t, raw)[1].name, "artifacts/")
}
