package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/config"
)

// loadFiles loads unitask.yaml among other files, with suppliers of a kind that serves text.chat and one that serves
// whatever its models' maps describe.
func loadFiles(t *testing.T, files map[string]string) (config.Config, *catalog.Catalog, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config.Load(config.Sources{
		File: filepath.Join(dir, "unitask.yaml"), Kinds: map[string][]string{"openai": {"text.chat", "audio.speech"}, "fal": nil},
	})
}

// TestTiersOfTheDocs loads the two files of the page's section about tiers.
func TestTiersOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n# (\\w+\\.yaml)\n(.*?)```").FindAllSubmatch(page, -1) {
		files[string(block[1])] = string(block[2])
	}
	c, directory, err := loadFiles(t, files)
	if err != nil {
		t.Fatal(err)
	}
	tiers := map[catalog.Name]catalog.Name{}
	for _, entry := range directory.All() {
		if entry.Extends == "" {
			continue
		}
		tiers[entry.Name] = entry.Extends
		if len(c.Routes[entry.Name]) == 0 {
			t.Errorf("%s has no route", entry.Name)
		}
	}
	want := map[catalog.Name]catalog.Name{"text.chat.large": "text.chat", "image.generate.fast": "image.generate"}
	if diff := cmp.Diff(want, tiers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTierIsCheckedAsItsBase: a tier's name says nothing about who can serve it, nor about its unit.
func TestTierIsCheckedAsItsBase(t *testing.T) {
	const tiers = `capabilities:
  - {name: shop.answer, extends: text.chat, title: a, description: b}
  - {name: text.spoken, extends: audio.speech, title: a, description: b}
  - {name: text.chat.image, extends: image.generate, title: a, description: b}
`
	const head = "catalog: [tiers.yaml]\nsuppliers: [{name: one, kind: openai, base_url: http://127.0.0.1:1}]\nroutes:\n"
	for _, tt := range []struct {
		name, routes string
		want         []string
	}{
		{"served by its base's kind, in its base's unit", `  shop.answer: [{supplier: one, model: m, price: {unit: mtok}}]
  text.spoken: [{supplier: one, model: m, price: {unit: mchar}}]
`, nil},
		{"not its own", `  shop.answer: [{supplier: one, model: m, price: {unit: image}}]
  text.chat.image: [{supplier: one, model: m, price: {unit: mtok}}]
prices: {text.chat.image: {unit: second}}
`, []string{
			"routes.shop.answer[0].price.unit is none that text.chat is counted in",
			"routes.text.chat.image[0].supplier can't serve image.generate",
			"prices.text.chat.image.unit is none that image.generate is counted in",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := loadFiles(t, map[string]string{"tiers.yaml": tiers, "unitask.yaml": head + tt.routes})
			problems, _ := errors.AsType[config.Errors](err)
			var got []string
			for _, p := range problems {
				got = append(got, p.Setting+" "+p.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || tt.want == nil && err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestWrongTier: the error names the file as the settings do, and the line.
func TestWrongTier(t *testing.T) {
	_, _, err := loadFiles(t, map[string]string{
		"tiers.yaml":   "capabilities:\n  - {name: a.b, extends: text.chatt}\n",
		"unitask.yaml": "catalog: [tiers.yaml]\n",
	})
	problems, _ := errors.AsType[config.Errors](err)
	const want = `is not valid: tiers.yaml: line 2: a.b: extends "text.chatt", which is no capability; text.chat is one`
	if len(problems) != 1 || problems[0].Message != want {
		t.Errorf("got %v, want %q", err, want)
	}
}
