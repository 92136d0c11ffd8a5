package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/supplier/sandbox/media"
)

// instant is the options of a supplier that takes no time.
var instant = map[string]string{"speed": "0"}

func mustNew(t *testing.T, name string, options map[string]string) supplier.Adapter {
	t.Helper()
	a, err := sandbox.Kind().New(supplier.Config{Name: name, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// request is the first attempt of a task.
func request(capability, input, params string) supplier.Request {
	return supplier.Request{
		Capability: capability, Model: "m", Input: json.RawMessage(input), Parameters: json.RawMessage(params),
		SubmitKey: "task_1/1",
	}
}

// with adds a media value to a request.
func with(r supplier.Request, pointer string, data []byte) supplier.Request {
	m := map[string]supplier.Media{}
	for k, v := range r.Media {
		m[k] = v
	}
	m[pointer] = supplier.Media{Bytes: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
	r.Media = m
	return r
}

// verdict is the important part of an error.
type verdict struct {
	Sent supplier.Sent
	Code fault.Code
}

func verdictOf(err error) verdict {
	if err == nil {
		return verdict{}
	}
	e := supplier.AsError(err)
	return verdict{e.Sent, e.Fault.Code}
}

// ready polls a job of an instant supplier, through the form in which it is stored.
func ready(t *testing.T, a supplier.Adapter, o supplier.Outcome) *supplier.Result {
	t.Helper()
	if o.Job == nil {
		return o.Result
	}
	stored, err := json.Marshal(o.Job)
	if err != nil {
		t.Fatal(err)
	}
	var j supplier.Job
	if err := json.Unmarshal(stored, &j); err != nil {
		t.Fatal(err)
	}
	done, err := a.(supplier.Poller).Poll(t.Context(), j)
	if err != nil || done.Result == nil {
		t.Fatalf("poll: %+v, %v", done, err)
	}
	return done.Result
}

func picture(t *testing.T, w, h int) []byte {
	t.Helper()
	data, err := media.Encode(media.Draw(media.PictureSpec{Prompt: "x", Width: w, Height: h}), "png", media.Low)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// harmless is the scores of a text that isn't harmful.
const harmless = `{"harassment":0,"hate":0,"illicit":0,"other":0,"personal_data":0,"self_harm":0,"sexual":0,"sexual_minors":0,"violence":0}`

func TestEachCapabilityGivesRealBytes(t *testing.T) {
	t.Parallel()
	img, wav := picture(t, 90, 60), media.Speak(media.SpeechSpec{Text: "Good day.", Speed: 1})
	text := "Good day."
	edit := with(request("image.edit", `{"prompt":"gold"}`, `{}`), "/images/0", img)
	for name, tt := range map[string]struct {
		request supplier.Request
		want    supplier.Result // File.Data aside
	}{
		"image.generate": {
			request("image.generate", `{"prompt":"a red fox"}`, `{"n":2,"size":"64x32","format":"webp","seed":3,"quality":"high"}`),
			supplier.Result{Usage: supplier.Usage{Images: 2}, Files: []supplier.File{
				{ContentType: "image/webp", Width: 64, Height: 32}, {ContentType: "image/webp", Width: 64, Height: 32},
			}},
		},
		"image.generate, shaped": {
			request("image.generate", `{"prompt":"a red fox"}`, `{"aspect_ratio":"16:9","format":"jpeg"}`),
			supplier.Result{Usage: supplier.Usage{Images: 1}, Files: []supplier.File{{ContentType: "image/jpeg", Width: 1368, Height: 768}}},
		},
		"image.edit": {
			edit,
			supplier.Result{Usage: supplier.Usage{Images: 1}, Files: []supplier.File{{ContentType: "image/png", Width: 90, Height: 60}}},
		},
		"image.edit, all inputs": {
			with(with(with(edit, "/images/1", img), "/images/2", img), "/mask", img),
			supplier.Result{Usage: supplier.Usage{Images: 1}, Files: []supplier.File{{ContentType: "image/png", Width: 90, Height: 60}}},
		},
		"video.generate": {
			request("video.generate", `{"prompt":"waves"}`, `{"duration_seconds":0.5,"aspect_ratio":"9:16","audio":true}`),
			supplier.Result{Usage: supplier.Usage{Milliseconds: 500}, Files: []supplier.File{{ContentType: "video/mp4", Width: 720, Height: 1280, Duration: 0.5}}},
		},
		"video.generate, from pictures": {
			with(with(with(request("video.generate", `{}`, `{"duration_seconds":1,"aspect_ratio":"1:1"}`), "/image", img), "/last_image", img), "/reference_images/0", img),
			supplier.Result{Usage: supplier.Usage{Milliseconds: 1000}, Files: []supplier.File{{ContentType: "video/mp4", Width: 720, Height: 720, Duration: 1}}},
		},
		"text.rerank": {
			request("text.rerank", `{"query":"Which owl hunts?","documents":["A bee.","The owl hunts.","An OWL, a hunter.","A bee."]}`, `{"top_n":3}`),
			supplier.Result{
				Data:  json.RawMessage(`{"results":[{"index":1,"score":0.5802},{"index":2,"score":0.3206},{"index":0,"score":0}]}`),
				Usage: supplier.Usage{InputTokens: 23, Searches: 1},
			},
		},
		"text.moderate": {
			request("text.moderate", `{"texts":["A fine day.","Kill, murder or kill? Idiot!","skill"]}`, `{}`),
			supplier.Result{
				Data: json.RawMessage(`{"results":[` +
					`{"flagged":false,"categories":[],"scores":` + harmless + `},` +
					`{"flagged":true,"categories":["harassment","violence"],"scores":` +
					strings.NewReplacer(`"harassment":0`, `"harassment":0.5`, `"violence":0`, `"violence":0.875`).Replace(harmless) + `},` +
					`{"flagged":false,"categories":[],"scores":` + harmless + `}]}`),
				Usage: supplier.Usage{InputTokens: 9},
			},
		},
		"audio.speech": {
			request("audio.speech", `{"text":"Good day."}`, `{"format":"flac","voice":"x","speed":2}`),
			supplier.Result{Usage: supplier.Usage{Milliseconds: 450, Characters: 9}, Files: []supplier.File{{ContentType: "audio/flac", Duration: 0.45}}},
		},
		"audio.transcribe": {
			with(request("audio.transcribe", `{}`, `{"timestamps":"word"}`), "/audio", wav.WAV()),
			supplier.Result{
				Text: &text, FinishReason: "stop", Usage: supplier.Usage{Milliseconds: 800, OutputTokens: 2},
				Segments: []supplier.Segment{{Start: 0, End: 0.4, Text: "Good"}, {Start: 0.4, End: 0.8, Text: "day."}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, again := mustNew(t, "sandbox-a", instant), mustNew(t, "sandbox-b", instant)
			var results []*supplier.Result
			for _, a := range []supplier.Adapter{a, again} {
				o, err := a.Submit(t.Context(), tt.request)
				if err != nil {
					t.Fatal(err)
				}
				results = append(results, ready(t, a, o))
			}
			if diff := cmp.Diff(results[0], results[1]); diff != "" {
				t.Errorf("not a function of the request: %s", diff)
			}
			got := *results[0]
			for i, f := range got.Files {
				checkBytes(t, f)
				got.Files[i].Data = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// checkBytes checks that a file is of its claimed type.
func checkBytes(t *testing.T, f supplier.File) {
	t.Helper()
	marks := map[string]string{"video/mp4": "\x00\x00\x00\x20ftypisom", "audio/flac": "fLaC", "audio/wav": "RIFF"}
	if mark, ok := marks[f.ContentType]; ok {
		if !bytes.HasPrefix(f.Data, []byte(mark)) {
			t.Errorf("%s begins % x", f.ContentType, f.Data[:8])
		}
		return
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(f.Data))
	if got := "image/" + format; err != nil || got != f.ContentType || config.Width != f.Width || config.Height != f.Height {
		t.Errorf("%s of %d by %d, %v; want %s of %d by %d", got, config.Width, config.Height, err, f.ContentType, f.Width, f.Height)
	}
}

func TestJobRunsByTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := mustNew(t, "sandbox-a", map[string]string{"latency": "200ms"})
		began := time.Now()
		o, err := a.Submit(t.Context(), request("image.generate", `{"prompt":"a fox"}`, `{"size":"16x16"}`))
		if err != nil || time.Since(began) != 200*time.Millisecond {
			t.Fatalf("submitted after %v: %v", time.Since(began), err)
		}
		restarted := mustNew(t, "sandbox-a", nil).(supplier.Poller)
		for _, step := range []struct {
			progress  float64
			pollAfter time.Duration
		}{{0.2 / 1.5, time.Second}, {1.2 / 1.5, 300 * time.Millisecond}} {
			got, err := restarted.Poll(t.Context(), *o.Job)
			want := *o.Job
			want.Progress, want.PollAfter = new(step.progress), step.pollAfter
			if diff := cmp.Diff(supplier.Outcome{Job: &want}, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" || err != nil {
				t.Errorf("%v: %s", err, diff)
			}
			time.Sleep(time.Second)
		}
		if got := ready(t, restarted.(supplier.Adapter), o); len(got.Files) != 1 {
			t.Errorf("%d files", len(got.Files))
		}
	})
}

func TestMagicInputs(t *testing.T) {
	t.Parallel()
	type step struct {
		key  string
		want verdict
	}
	refused := func(c fault.Code) verdict { return verdict{supplier.Refused, c} }
	lost := verdict{supplier.Unknown, fault.ProviderTimeout}
	for name, tt := range map[string]struct {
		prompt, supplier, class string
		steps                   []step
	}{
		"fail":         {"@fail:CONTENT_POLICY_VIOLATION", "sandbox-a", "honors_key", []step{{"t/1", refused(fault.ContentPolicyViolation)}}},
		"fail, full":   {"@fail:CAPACITY_EXHAUSTED", "sandbox-b", "neither", []step{{"t/1", refused(fault.CapacityExhausted)}}},
		"malformed":    {"@fail:WHAT", "sandbox-a", "honors_key", []step{{"t/1", refused(fault.InvalidRequest)}}},
		"flaky":        {"@flaky:2", "sandbox-a", "honors_key", []step{{"t/1", refused(fault.ProviderUnavailable)}, {"t/2", refused(fault.ProviderUnavailable)}, {"t/3", verdict{}}}},
		"full a":       {"@full", "sandbox-a", "honors_key", []step{{"t/1", refused(fault.CapacityExhausted)}}},
		"full b":       {"@full", "sandbox-b", "honors_key", []step{{"t/1", verdict{}}}},
		"unknown":      {"@unknown", "sandbox-a", "honors_key", []step{{"t/1", lost}, {"t/1", verdict{}}, {"u/1", lost}, {"u/2", verdict{}}}},
		"unknown, new": {"@unknown", "sandbox-a", "neither", []step{{"t/1", lost}, {"t/2", verdict{}}}},
	} {
		for _, capability := range []string{"text.chat", "image.generate"} {
			a := mustNew(t, tt.supplier, map[string]string{"class": tt.class})
			for i, s := range tt.steps {
				r := request(capability, `{"prompt":"a fox `+tt.prompt+` please"}`, `{}`)
				r.SubmitKey = s.key
				_, err := a.Submit(t.Context(), r)
				if diff := cmp.Diff(s.want, verdictOf(err)); diff != "" {
					t.Errorf("%s, %s, step %d: %s", name, capability, i, diff)
				}
			}
		}
	}
}

func TestFailedJob(t *testing.T) {
	t.Parallel()
	a := mustNew(t, "sandbox-a", instant)
	o, err := a.Submit(t.Context(), request("image.generate", `{"prompt":"@failjob:INTERNAL"}`, `{}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.(supplier.Poller).Poll(t.Context(), *o.Job)
	if diff := cmp.Diff(verdict{supplier.Failed, fault.Internal}, verdictOf(err)); diff != "" {
		t.Error(diff)
	}
	_, err = a.Submit(t.Context(), request("text.chat", `{"prompt":"@failjob:INTERNAL"}`, `{}`))
	if diff := cmp.Diff(verdict{supplier.Refused, fault.Internal}, verdictOf(err)); diff != "" {
		t.Error(diff)
	}
}

func TestStalledFileEndsWithTheTransfer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := mustNew(t, "sandbox-a", instant)
		o, err := a.Submit(t.Context(), request("image.generate", `{"prompt":"@stuck:transferring"}`, `{"size":"16x16"}`))
		if err != nil {
			t.Fatal(err)
		}
		files := ready(t, a, o).Files
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		body, err := files[0].Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := io.ReadAll(body); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Hour {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		files[0].Open = nil
		want := []supplier.File{{ContentType: "image/png", Width: 16, Height: 16}}
		if diff := cmp.Diff(want, files); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStuckAndSlowEndWithTheContext(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{"@stuck:running", "@slow:30s"} {
		synctest.Test(t, func(t *testing.T) {
			a := mustNew(t, "sandbox-a", nil)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			began := time.Now()
			_, err := a.Submit(ctx, request("text.chat", `{"prompt":"`+prompt+`"}`, `{}`))
			if diff := cmp.Diff(verdict{supplier.Unknown, fault.ProviderTimeout}, verdictOf(err)); diff != "" || time.Since(began) != 5*time.Second {
				t.Errorf("%s: after %v: %s", prompt, time.Since(began), diff)
			}
		})
	}
}

func TestStuckAndSlowJobsRunOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := mustNew(t, "sandbox-a", instant)
		for prompt, ends := range map[string]time.Duration{"@slow:30s": 30 * time.Second, "@stuck:running": 0} {
			r := request("image.generate", `{"prompt":"`+prompt+`"}`, `{"size":"16x16"}`)
			r.SubmitKey = prompt
			o, err := a.Submit(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for time.Since(began) < time.Hour && o.Job != nil {
				time.Sleep(time.Second)
				if o, err = a.(supplier.Poller).Poll(t.Context(), *o.Job); err != nil {
					t.Fatal(err)
				}
			}
			if got := time.Since(began); o.Job == nil && got != ends || o.Job != nil && ends != 0 {
				t.Errorf("%s: ended after %v", prompt, got)
			}
		}
	})
}

func TestEndedContextsSendNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := mustNew(t, "sandbox-a", map[string]string{"class": "findable"})
	_, submitted := a.Submit(ctx, request("text.chat", `{"prompt":"x"}`, `{}`))
	_, _, found := a.(supplier.Finder).Find(ctx, "t/1")
	_, polled := a.(supplier.Poller).Poll(ctx, supplier.Job{})
	_, probed := a.(supplier.Prober).Probe(ctx)
	got := []verdict{verdictOf(submitted), verdictOf(probed), verdictOf(found), verdictOf(polled)}
	notSent := verdict{supplier.NotSent, fault.ProviderTimeout}
	if diff := cmp.Diff([]verdict{notSent, notSent, notSent, {supplier.Unknown, fault.ProviderTimeout}}, got); diff != "" {
		t.Error(diff)
	}
}
