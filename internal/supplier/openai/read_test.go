package openai_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
)

// usual are answers, and pieces of them, that are read in the quick way; the others aren't.
var (
	usual = []string{
		chatAnswer, usualAnswer, `{}`, `{"choices":[]}`, `{"choices":[{}],"usage":null}`,
		chunk(`[{"index":0,"delta":{"role":"assistant","content":"a\nb\u00e9é"},"finish_reason":null}],"usage":{"cost":"x"}`),
		chunk(`[{"index":0,"message":{"content":null,"refusal":"no","annotations":[]},"finish_reason":"length","error":{"code":1},"logprobs":{"content":[]}}]`),
	}
	unusual = []string{
		``, `null`, `[]`, `<html>`, `{`, `{"error":null}`, `{"object":"error"}`, `{"object":null}`, `{"object":1}`, `{"choices":null}`, `{"choices":[null]}`,
		`{"choices":[{},{}]}`, `{"choices":[{}],"choices":[{"message":{"content":"a"}}]}`, `{"choices":[{}],"Choices":[]}`, `{"choices":[{"message":null}]}`,
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}`, `{"choices":[{"message":{"content":"a","CONTENT":"b"}}]}`,
		`{"choices":[{"message":{"content":1}}]}`, `{"choices":[{"finishReason":"length"}]}`, `{"choices":[{"finish_reason":1}]}`,
		"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}", "{\"id\":\"\\ud800\"}", `{"choices":[{}]}x`, `{"choices":[{}]`, `{"choices":[{}],}`,
	}
)

func TestScanAnswer(t *testing.T) {
	for _, body := range usual {
		if _, ok := openai.ScanAnswer([]byte(body)); !ok {
			t.Errorf("%s isn't read in the quick way", body)
		}
	}
	for _, body := range unusual {
		if _, ok := openai.ScanAnswer([]byte(body)); ok {
			t.Errorf("%s is read in the quick way", body)
		}
	}
}

// FuzzScanAnswer: the fast lane reads the same values as the decoder.
func FuzzScanAnswer(f *testing.F) {
	for _, body := range append(usual, unusual...) {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, ok := openai.ScanAnswer(body)
		if !ok {
			return
		}
		want, err := openai.DecodeAnswer(body)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", body, err, diff)
		}
	})
}

// FuzzScanReport: the same of usage reports and their details.
func FuzzScanReport(f *testing.F) {
	for _, report := range []string{
		`{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"completion_tokens_details":{"reasoning_tokens":0}}`,
		`{"input_tokens":1e3,"output_tokens":[2],"seconds":"3","cost":0.1}`, `{"prompt_tokens":1,"prompt_tokens":2}`,
		`{"input_token_details":{"audio_tokens":3},"prompt_cache_hit_tokens":1,"num_search_queries":2,"citation_tokens":5,"reasoning_tokens":4}`,
		`{"cached_tokens":1,"cache_write_tokens":"2","image_tokens":[3],"audio_tokens":4,"reasoning_tokens":5,"text_tokens":6}`, `{"Cached_Tokens":1}`, `{"promptTokens":1}`, `{"Cost":1}`, `[]`, `null`, ``, `{`,
	} {
		f.Add([]byte(report))
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		got, ok := openai.ScanReport(report)
		if diff := cmp.Diff(openai.DecodeReport(report), got); ok && diff != "" {
			t.Errorf("%s (-want +got)\n%s", report, diff)
		}
		got, ok = openai.ScanDetails(report)
		if diff := cmp.Diff(openai.DecodeDetails(report), got); ok && diff != "" {
			t.Errorf("details %s (-want +got)\n%s", report, diff)
		}
	})
}

// TestOwnAnswers: reusing an answer's memory doesn't change its result.
func TestOwnAnswers(t *testing.T) {
	const callers, each = 8, 40
	var hangUps sync.Map // by the callers' names
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		name := regexp.MustCompile(`caller[0-9.]+`).Find(body)
		switch text := strings.Repeat(string(name)+" ", 1+len(body)%7*30); {
		case bytes.HasSuffix(name, []byte("3")): // in the other way
			_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":[{"text":%q}]},"finish_reason":%q}],"usage":{"Prompt_Tokens":7}}`, text, name)
		case bytes.HasSuffix(name, []byte("4")):
			_, _ = fmt.Fprintf(w, `{"error":{"code":%q}}`, name)
		case bytes.HasSuffix(name, []byte("5")): // and breaks off
			w.Header().Set("Content-Length", "9999")
			_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},`, text)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case bytes.HasSuffix(name, []byte("6")): // and waits until its caller has hung up
			_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},`, text)
			_ = http.NewResponseController(w).Flush()
			hangUp, _ := hangUps.Load(string(name))
			hangUp.(context.CancelFunc)()
			<-r.Context().Done()
		case bytes.HasSuffix(name, []byte("7")):
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			_, _ = fmt.Fprintf(zip, `{"choices":[{"message":{"content":%q}}]}`, text)
			_ = zip.Close()
		default:
			_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":%q}],"usage":{"prompt_tokens":7}}`, text, name)
		}
	}))
	defer srv.Close()
	a := mustNew(t, supplier.Config{BaseURL: srv.URL})
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			texts := make(map[string]*string)
			for n := range each {
				name := fmt.Sprintf("caller%d.%d", caller, n)
				ctx, hangUp := context.WithCancel(t.Context())
				hangUps.Store(name, hangUp)
				out, err := a.Submit(ctx, request("text.chat", `{"prompt":"`+name+strings.Repeat(" ", n)+`"}`, `{}`))
				hangUp()
				if fails := strings.ContainsAny(name[len(name)-1:], "456"); fails || err != nil {
					if (err != nil) != fails {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				texts[name] = out.Result.Text
			}
			for name, text := range texts {
				if words := strings.Fields(*text); len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return w != name }) {
					t.Errorf("%s was answered %q", name, *text)
				}
			}
		})
	}
	all.Wait()
}
