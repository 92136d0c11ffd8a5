package sandbox_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/supplier/sandbox/media"
)

// abilities is which optional interfaces an adapter fulfils.
type abilities struct{ Poller, Canceler, Streamer, Prober, Honors, Finder bool }

func TestClassesHaveTheirInterfaces(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]abilities{
		"":           {true, true, true, true, true, false},
		"honors_key": {true, true, true, true, true, false},
		"findable":   {true, true, true, true, false, true},
		"neither":    {true, true, true, true, false, false},
	} {
		options := map[string]string{"class": class}
		if class == "" {
			options = nil
		}
		a := mustNew(t, "sandbox-a", options)
		var got abilities
		_, got.Poller = a.(supplier.Poller)
		_, got.Canceler = a.(supplier.Canceler)
		_, got.Streamer = a.(supplier.Streamer)
		_, got.Prober = a.(supplier.Prober)
		_, got.Finder = a.(supplier.Finder)
		if k, ok := a.(supplier.KeyHonorer); ok {
			got.Honors = k.HonorsSubmitKey()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", class, diff)
		}
	}
}

func TestASecondSubmissionWithOneKey(t *testing.T) {
	t.Parallel()
	for class, same := range map[string]bool{"honors_key": true, "findable": false, "neither": false} {
		synctest.Test(t, func(t *testing.T) {
			a := mustNew(t, "sandbox-a", map[string]string{"class": class})
			r := request("image.generate", `{"prompt":"a fox"}`, `{}`)
			var jobs []supplier.Job
			for range 2 {
				o, err := a.Submit(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				jobs = append(jobs, *o.Job)
				time.Sleep(time.Second)
			}
			if got := cmp.Equal(jobs[0], jobs[1]); got != same {
				t.Errorf("%s: the same job: %v", class, got)
			}
			restarted := mustNew(t, "sandbox-a", map[string]string{"class": class})
			o, err := restarted.Submit(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := o.Job.ID == jobs[0].ID; got != same {
				t.Errorf("%s: the same id after a restart: %v", class, got)
			}
		})
	}
}

func TestFindLooksALostSubmissionUp(t *testing.T) {
	t.Parallel()
	for _, capability := range []string{"text.chat", "image.generate"} {
		a := mustNew(t, "sandbox-a", map[string]string{"class": "findable", "speed": "0"})
		r := request(capability, `{"prompt":"say fox @unknown"}`, `{}`)
		if _, err := a.Submit(t.Context(), r); verdictOf(err).Sent != supplier.Unknown {
			t.Fatalf("%s: %v", capability, err)
		}
		job, found, err := a.(supplier.Finder).Find(t.Context(), r.SubmitKey)
		if err != nil || !found {
			t.Fatalf("%s: found %v, %v", capability, found, err)
		}
		if ready(t, a, supplier.Outcome{Job: &job}) == nil {
			t.Errorf("%s: no result", capability)
		}
		if _, found, _ := a.(supplier.Finder).Find(t.Context(), "task_2/1"); found {
			t.Errorf("%s: a submission that never was is found", capability)
		}
	}
}

func TestFindForgetsTheOldest(t *testing.T) {
	t.Parallel()
	a := mustNew(t, "sandbox-a", map[string]string{"class": "findable"})
	for i := range 600 {
		r := request("text.chat", `{"prompt":"x"}`, `{}`)
		r.SubmitKey = fmt.Sprintf("t%d/1", i)
		if _, err := a.Submit(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	_, oldest, _ := a.(supplier.Finder).Find(t.Context(), "t0/1")
	_, newest, _ := a.(supplier.Finder).Find(t.Context(), "t599/1")
	if oldest || !newest {
		t.Errorf("oldest found: %v, newest: %v", oldest, newest)
	}
}

func TestFindForgetsWhatTakesTooMuchRoom(t *testing.T) {
	t.Parallel()
	a := mustNew(t, "sandbox-a", map[string]string{"class": "findable"})
	long := `{"texts":["` + strings.Repeat("a", 5<<19) + ` @unknown"]}`
	for i := range 4 {
		r := request("text.embed", long, `{}`)
		r.SubmitKey = fmt.Sprintf("t%d/1", i)
		if _, err := a.Submit(t.Context(), r); verdictOf(err).Sent != supplier.Unknown {
			t.Fatal(err)
		}
	}
	var got []bool
	for i := range 4 {
		_, found, _ := a.(supplier.Finder).Find(t.Context(), fmt.Sprintf("t%d/1", i))
		got = append(got, found)
	}
	if diff := cmp.Diff([]bool{false, true, true, true}, got); diff != "" {
		t.Error(diff)
	}
}

func TestVideoSizes(t *testing.T) {
	t.Parallel()
	type size struct{ Width, Height int }
	for params, want := range map[string]size{
		`{}`:                     {1280, 720},
		`{"aspect_ratio":"1:1"}`: {720, 720},
		`{"resolution":"1080p","aspect_ratio":"9:16"}`: {1080, 1920},
		`{"resolution":"4k"}`:                          {3840, 2160},
		`{"resolution":"4k","aspect_ratio":"9:16"}`:    {2160, 3840},
		`{"resolution":"4k","aspect_ratio":"21:9"}`:    {4096, 1752},
	} {
		o, err := mustNew(t, "sandbox-a", instant).Submit(t.Context(), request("video.generate", `{"prompt":"x"}`, params))
		if err != nil {
			t.Fatal(err)
		}
		var state struct{ Product size }
		if err := json.Unmarshal(o.Job.State, &state); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, state.Product); diff != "" {
			t.Errorf("%s: %s", params, diff)
		}
	}
}

func TestCancelEndsTheJob(t *testing.T) {
	t.Parallel()
	a := mustNew(t, "sandbox-a", instant)
	o, err := a.Submit(t.Context(), request("video.generate", `{"prompt":"@stuck:running"}`, `{}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.(supplier.Canceler).Cancel(t.Context(), *o.Job); err != nil {
			t.Fatal(err)
		}
	}
	_, err = a.(supplier.Poller).Poll(t.Context(), *o.Job)
	if diff := cmp.Diff(verdict{supplier.Failed, fault.ProviderUnavailable}, verdictOf(err)); diff != "" {
		t.Error(diff)
	}
	if err := a.(supplier.Canceler).Cancel(t.Context(), supplier.Job{ID: "sbx_other"}); err != nil {
		t.Error(err)
	}
}

func TestPollOfADamagedState(t *testing.T) {
	t.Parallel()
	a := mustNew(t, "sandbox-a", nil).(supplier.Poller)
	for _, state := range []string{``, `{`, `{}`, `{"capability":"x"}`, `{"capability":"image.edit","product":{"source":"AA==","count":1}}`, `{"capability":"text.chat","product":7}`} {
		_, err := a.Poll(t.Context(), supplier.Job{State: json.RawMessage(state)})
		if diff := cmp.Diff(verdict{supplier.Failed, fault.Internal}, verdictOf(err)); diff != "" {
			t.Errorf("%q: %s", state, diff)
		}
	}
}

func TestKindRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ capability, params, want string }{
		{"text.chat", `{"temperature":2}`, ""},
		{"text.embed", `{"dimensions":8193}`, "dimensions is outside 1 to 8192"},
		{"image.generate", `{"n":5}`, "n is outside 1 to 4"},
		{"image.generate", `{"format":"bmp"}`, "format is none of png, jpeg and webp"},
		{"image.generate", `{"size":"big"}`, "size is not written as WIDTHxHEIGHT"},
		{"image.generate", `{"size":"auto","aspect_ratio":"auto"}`, ""},
		{"image.generate", `{"size":"8x8"}`, "size is outside 16 to 4096 pixels a side"},
		{"image.generate", `{"size":"512x512","aspect_ratio":"1:1"}`, ""},
		{"image.edit", `{"size":"512x512","aspect_ratio":"16:9"}`, "size and aspect_ratio disagree"},
		{"image.edit", `{"aspect_ratio":"9:1"}`, "aspect_ratio is not written as W:H, or is beyond 4:1"},
		{"video.generate", `{"duration_seconds":61}`, "duration_seconds is over 60"},
		{"video.generate", `{"resolution":"8k"}`, "resolution is none of 720p, 1080p and 4k"},
		{"video.generate", `{"resolution":"4k","aspect_ratio":"21:9"}`, ""},
		{"video.generate", `{"aspect_ratio":"wide"}`, "aspect_ratio is not written as W:H, or is beyond 4:1"},
		{"audio.speech", `{"format":"mp3"}`, "format is neither wav nor flac"},
		{"audio.speech", `{"speed":5}`, "speed is outside 0.25 to 4"},
		{"audio.transcribe", `{"format":"json"}`, "format is none of text, srt and vtt"},
		{"audio.transcribe", `{"format":7}`, "the parameters can't be read"},
	} {
		r := request(tt.capability, `{"prompt":"x"}`, tt.params)
		if got := sandbox.Kind().Refuses(r); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.capability, tt.params, got, tt.want)
		}
		if tt.want != "" {
			_, err := mustNew(t, "sandbox-a", nil).Submit(t.Context(), r)
			if diff := cmp.Diff(verdict{supplier.Refused, fault.InvalidRequest}, verdictOf(err)); diff != "" {
				t.Errorf("%s %s: %s", tt.capability, tt.params, diff)
			}
		}
	}
}

func TestBadInputsAreRefused(t *testing.T) {
	t.Parallel()
	a := mustNew(t, "sandbox-a", nil)
	for name, r := range map[string]supplier.Request{
		"input":          request("text.chat", `{"prompt":7}`, `{}`),
		"no picture":     request("image.edit", `{"prompt":"x"}`, `{}`),
		"broken picture": with(request("video.generate", `{"prompt":"x"}`, `{}`), "/image", []byte("no picture")),
		"broken mask":    with(with(request("image.edit", `{"prompt":"x"}`, `{}`), "/images/0", picture(t, 20, 20)), "/mask", nil),
		"long speech":    request("audio.speech", `{"text":"`+strings.Repeat("a", 10_001)+`"}`, `{}`),
	} {
		_, err := a.Submit(t.Context(), r)
		if diff := cmp.Diff(verdict{supplier.Refused, fault.InvalidRequest}, verdictOf(err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestKindRefusesOptions(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"class": {"", "best"}, "latency": {"", "5", "-1s"}, "speed": {"", "x", "-1", "NaN", "1001"}, "other": {"1"},
	} {
		for _, v := range values {
			if _, err := sandbox.Kind().New(supplier.Config{Options: map[string]string{name: v}}); err == nil {
				t.Errorf("%s=%q is taken", name, v)
			}
		}
	}
}

func TestEmbeddingsAreUnitVectorsOfLikeness(t *testing.T) {
	t.Parallel()
	texts := `{"texts":["a red fox in the snow","the red foxes in snow","quarterly tax return forms",""]}`
	for _, params := range []string{`{}`, `{"dimensions":64}`} {
		o, err := mustNew(t, "sandbox-a", nil).Submit(t.Context(), request("text.embed", texts, params))
		if err != nil {
			t.Fatal(err)
		}
		e := o.Result.Embeddings
		for i, v := range e {
			if got := math.Sqrt(dot(v, v)); math.Abs(got-1) > 1e-5 {
				t.Errorf("%s: vector %d has length %v", params, i, got)
			}
		}
		if like, unlike := dot(e[0], e[1]), dot(e[0], e[2]); like < 0.5 || unlike > 0.3 {
			t.Errorf("%s: like %v, unlike %v", params, like, unlike)
		}
		if want := (supplier.Usage{InputTokens: 16}); o.Result.Usage != want {
			t.Errorf("usage %+v, want %+v", o.Result.Usage, want)
		}
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestTranscriptFormats(t *testing.T) {
	t.Parallel()
	sound := media.Sound{Rate: 1000, Samples: make([]int16, 5000), Comment: "One two. Three!"}
	for _, tt := range []struct {
		params, want string
		data         []byte
	}{
		{`{"format":"srt"}`, "1\n00:00:00,000 --> 00:00:02,857\nOne two.\n\n2\n00:00:02,857 --> 00:00:05,000\nThree!\n\n", sound.WAV()},
		{`{"format":"vtt"}`, "WEBVTT\n\n1\n00:00:00.000 --> 00:00:02.857\nOne two.\n\n2\n00:00:02.857 --> 00:00:05.000\nThree!\n\n", sound.FLAC()},
		{`{}`, "A recording of 5.0 seconds in 1 channel at 1000 hertz. It is 96 decibels below full scale.", media.Sound{Rate: 1000, Samples: sound.Samples}.WAV()},
		{`{}`, "A recording of 5.0 seconds in 1 channel at 1000 hertz.", media.Sound{Rate: 1000, Samples: sound.Samples}.FLAC()},
		{`{"format":"text"}`, "A recording of 3 bytes. The sandbox can tell no more of this format.", []byte("ID3")},
	} {
		o, err := mustNew(t, "sandbox-a", nil).Submit(t.Context(), with(request("audio.transcribe", `{}`, tt.params), "/audio", tt.data))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, *o.Result.Text); diff != "" {
			t.Errorf("%s: %s", tt.params, diff)
		}
	}
}

func TestStoredStatesStaySmall(t *testing.T) {
	t.Parallel()
	noise := media.Draw(media.PictureSpec{Prompt: "x", Width: 900, Height: 800})
	for i := range noise.Pix {
		noise.Pix[i] = byte(uint32(i*i) * 2654435761 >> 13)
	}
	data, err := media.Encode(noise, "jpeg", media.High)
	if err != nil {
		t.Fatal(err)
	}
	r := with(request("image.edit", `{"prompt":"x"}`, `{}`), "/images/0", data)
	for i := range 6 {
		r = with(r, fmt.Sprintf("/images/%d", i+1), data)
	}
	o, err := mustNew(t, "sandbox-a", nil).Submit(t.Context(), with(r, "/mask", data))
	if err != nil {
		t.Fatal(err)
	}
	if got, limit := len(o.Job.State), 192<<10; got > limit {
		t.Errorf("a state of %d bytes, limit %d", got, limit)
	}
}
