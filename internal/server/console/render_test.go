package console

import (
	"fmt"
	"io/fs"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestTemplateNames: no template takes the name of another one's, as all of them are in one set.
func TestTemplateNames(t *testing.T) {
	define := regexp.MustCompile(`{{-?\s*(?:define|block)\s+"([^"]+)"`)
	in := map[string]string{}
	err := fs.WalkDir(templates, "templates", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := templates.ReadFile(path)
		for _, found := range define.FindAllSubmatch(text, -1) {
			name := string(found[1])
			if other := in[name]; other != "" {
				t.Errorf("%s is defined in %s and in %s", name, other, path)
			}
			in[name] = path
		}
		return err
	})
	if err != nil || len(in) < 50 {
		t.Fatalf("%d templates, %v", len(in), err)
	}
}

// TestPagesAtOnce: pages that are written at the same time have each its own zone.
func TestPagesAtOnce(t *testing.T) {
	var p pages
	p.words = functions(nil, "", time.Now)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			zone := time.FixedZone(fmt.Sprintf("Zone/%d", i), i*3600)
			for range 20 {
				var said slowly
				if err := p.write(&said, page{Name: "again"}, zone); err != nil || !strings.Contains(said.String(), `data-zone="`+zone.String()+`"`) {
					t.Errorf("%v: %v in %.80q", zone, err, said.String())
				}
			}
		})
	}
	all.Wait()
}

// slowly lets others write between its own pieces.
type slowly struct{ strings.Builder }

func (s *slowly) Write(b []byte) (int, error) {
	runtime.Gosched()
	return s.Builder.Write(b)
}

// TestUnknownPage: a page without a template is an error and no empty page.
func TestUnknownPage(t *testing.T) {
	var p pages
	p.words = functions(nil, "", time.Now)
	if err := p.write(new(strings.Builder), page{Name: "nowhere"}, time.UTC); err == nil {
		t.Error("no error")
	}
}
