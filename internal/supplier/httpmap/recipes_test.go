package httpmap_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/httpmap"
	"unitask/internal/supplier/openapicheck"
)

const recipes = "../../../docs/recipes"

// exchange is one request of a recipe, as its exchanges.yaml has it: the wire form of it, an answer, and the outcome.
type exchange struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"` // "" for http
	Map       string `json:"map"`
	Published string `json:"published"` // an excerpt in testdata/published that both sides are held against
	Model     string `json:"model"`
	Request   struct {
		Input      json.RawMessage `json:"input"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"request"`
	Media map[string]file `json:"media"`
	Sends *struct {
		Method string          `json:"method"`
		Path   string          `json:"path"`
		JSON   json.RawMessage `json:"json"`
	} `json:"sends"`
	Answer struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		JSON    json.RawMessage   `json:"json"`
	} `json:"answer"`
	Output json.RawMessage `json:"output"`
	Files  []file          `json:"files"`
	Usage  supplier.Usage  `json:"usage"`
	Error  string          `json:"error"` // the verdict and the code
}

type file struct {
	ContentType string `json:"content_type"`
	Data        []byte `json:"data"`
}

// TestRecipes runs every exchange of every recipe in docs/recipes through the kind http: the request fits the
// capability's schemas and is sent as it says, the answer becomes the output that it says, which fits the schema, and both
// fit the supplier's published document, if there is one.
func TestRecipes(t *testing.T) {
	folders, err := filepath.Glob(recipes + "/*/exchanges.yaml")
	if err != nil || len(folders) < 2 {
		t.Fatalf("recipes: %v, %v", folders, err)
	}
	page, err := os.ReadFile(filepath.Dir(recipes) + "/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range folders {
		folder := filepath.Dir(name)
		capability := catalog.Name(filepath.Base(folder))
		if !bytes.Contains(page, []byte("recipes/"+string(capability)+"/")) {
			t.Errorf("docs/recipes.md doesn't speak of %s", capability)
		}
		directory := directoryOf(t, folder)
		if _, known := directory.Get(capability); !known {
			t.Errorf("%s has no capability.yaml and isn't built in", capability)
		}
		used := map[string]bool{}
		all := exchanges(t, name)
		if all[0].Kind != "" {
			continue // of a chat: the service's test runs it
		}
		for _, e := range all {
			used[e.Map] = true
			t.Run(string(capability)+"/"+e.Name, func(t *testing.T) { e.run(t, directory, capability, folder) })
		}
		for _, m := range mapsIn(t, folder) {
			if !used[m] {
				t.Errorf("%s: no exchange of %s", capability, m)
			}
		}
	}
}

// directoryOf returns the directory with the recipe's own capability, if it has one.
func directoryOf(t *testing.T, folder string) *catalog.Catalog {
	t.Helper()
	var overlays [][]byte
	switch text, err := os.ReadFile(filepath.Join(folder, "capability.yaml")); {
	case err == nil:
		overlays = append(overlays, text)
	case !errors.Is(err, fs.ErrNotExist):
		t.Fatal(err)
	}
	directory, err := catalog.Load(overlays...)
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

func exchanges(t *testing.T, name string) []exchange {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Exchanges []exchange `json:"exchanges"`
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil || len(doc.Exchanges) == 0 {
		t.Fatalf("%s: %v", name, err)
	}
	return doc.Exchanges
}

// mapsIn returns the files that the recipe's configuration names as models.
func mapsIn(t *testing.T, folder string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "unitask.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`models: \[([a-z.]+)\]`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	if len(all) == 0 {
		t.Errorf("%s: the configuration names no maps", folder)
	}
	return all
}

func (e exchange) run(t *testing.T, directory *catalog.Catalog, capability catalog.Name, folder string) {
	if fault := directory.Validate(catalog.Request{Capability: capability, Input: e.Request.Input, Parameters: e.Request.Parameters}); fault != nil {
		t.Fatalf("the request doesn't fit the capability: %v", fault)
	}
	var document *openapicheck.Document
	if e.Published != "" {
		var err error
		if document, err = openapicheck.Load("testdata/published/" + e.Published); err != nil {
			t.Fatal(err)
		}
	}
	srv := httptest.NewServer(e.upstream(t, document))
	defer srv.Close()
	a, err := httpmap.New(supplier.Config{BaseURL: srv.URL, Models: []string{filepath.Join(folder, e.Map)}})
	if err != nil {
		t.Fatal(err)
	}
	r := request(string(capability), e.Model, string(e.Request.Input), string(e.Request.Parameters))
	if why := supplier.Refuses(httpmap.Kind(), a, r); why != "" {
		t.Fatalf("refused: %s", why)
	}
	r.Media = map[string]supplier.Media{}
	for pointer, m := range e.Media {
		r.Media[pointer] = supplier.Media{ContentType: m.ContentType, Bytes: int64(len(m.Data)), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(m.Data)), nil
		}}
	}
	out, err := a.Submit(t.Context(), r)
	if err != nil || e.Error != "" {
		failure := supplier.AsError(err)
		if failure == nil || string(failure.Sent)+" "+string(failure.Fault.Code) != e.Error {
			t.Errorf("got %v, want %q", err, e.Error)
		}
		return
	}
	e.compare(t, out.Result)
	whole := string(out.Result.Data)
	for i := range out.Result.Files {
		whole = strings.Replace(whole, `{"artifact":`+strconv.Itoa(i)+`}`, artifact, 1)
	}
	if err := directory.ValidateOutput(capability, json.RawMessage(whole)); err != nil {
		t.Errorf("the output doesn't fit the capability: %v", err)
	}
}

// artifact is a file as callers read it.
const artifact = `{"id":"art_00000000000000000000000001","url":"https://a.example/1","content_type":"image/jpeg","bytes":3,
	"sha256":"0000000000000000000000000000000000000000000000000000000000000000","expires_at":"2026-01-01T00:00:00.000Z"}`

// upstream answers the one request, which it compares.
func (e exchange) upstream(t *testing.T, document *openapicheck.Document) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if e.Sends != nil {
			if got, want := r.Method+" "+r.URL.RequestURI(), e.Sends.Method+" "+e.Sends.Path; got != want {
				t.Errorf("sent %s, want %s", got, want)
			}
			if diff := cmp.Diff(value(t, e.Sends.JSON), value(t, body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		}
		status := max(e.Answer.Status, http.StatusOK)
		if document != nil {
			sent, err := document.Request(r, body)
			if err != nil {
				t.Errorf("the request isn't as published: %v", err)
			}
			if err := document.Answer(sent.Operation, status, "application/json", e.Answer.JSON); err != nil {
				t.Errorf("the answer isn't as published: %v", err)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		for name, v := range e.Answer.Headers {
			w.Header().Set(name, v)
		}
		w.WriteHeader(status)
		_, _ = w.Write(e.Answer.JSON)
	})
}

func (e exchange) compare(t *testing.T, got *supplier.Result) {
	t.Helper()
	if got == nil {
		t.Fatal("no result")
	}
	if diff := cmp.Diff(value(t, e.Output), value(t, got.Data)); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	var files []file
	for _, f := range got.Files {
		files = append(files, file{f.ContentType, f.Data})
	}
	if diff := cmp.Diff(e.Files, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(e.Usage, got.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

func value(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Errorf("%v in %s", err, text)
	}
	return v
}
