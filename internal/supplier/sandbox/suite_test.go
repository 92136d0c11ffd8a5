package sandbox_test

import (
	"maps"
	"slices"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/supplier/suppliertest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	img, text := picture(t, 40, 30), hello
	samples := map[string]supplier.Request{
		"text.embed":              request("text.embed", `{"texts":["a"]}`, `{}`),
		"text.moderate":           request("text.moderate", `{"texts":["a bee"]}`, `{}`),
		"text.rerank":             request("text.rerank", `{"query":"an owl","documents":["a bee","an owl"]}`, `{}`),
		"image.generate":          request("image.generate", `{"prompt":"a fox"}`, `{"size":"64x64"}`),
		"image.edit":              with(request("image.edit", `{"prompt":"a fox"}`, `{}`), "/images/0", img),
		"image.upscale":           with(request("image.upscale", `{}`, `{}`), "/image", img),
		"image.background_remove": with(request("image.background_remove", `{}`, `{}`), "/image", img),
		"video.generate":          request("video.generate", `{"prompt":"waves"}`, `{"duration_seconds":1}`),
		"video.extend":            with(request("video.extend", `{"prompt":"waves"}`, `{"duration_seconds":1}`), "/video", exampleOf(t, "video.extend", "video")),
		"audio.speech":            request("audio.speech", `{"text":"Hi."}`, `{}`),
		"audio.transcribe":        with(request("audio.transcribe", `{}`, `{}`), "/audio", []byte("x")),
	}
	cases := []suppliertest.Case{{
		Request: request("text.chat", `{"prompt":"hello"}`, `{}`),
		Want: &supplier.Result{
			Text: &text, FinishReason: "stop", Usage: supplier.Usage{InputTokens: 1, OutputTokens: 15},
		},
	}}
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		cases = append(cases, suppliertest.Case{Request: samples[name], Check: filesHold})
	}
	lost := request("text.chat", `{"prompt":"@unknown"}`, `{}`)
	failed := request("image.generate", `{"prompt":"@failjob:PROVIDER_TIMEOUT"}`, `{}`)
	faults := []suppliertest.Fault{
		{Name: "lost", Request: &lost, Want: suppliertest.Verdict{Code: fault.ProviderTimeout, Sent: supplier.Unknown}},
		{Name: "job", Request: &failed, Want: suppliertest.Verdict{Code: fault.ProviderTimeout, Sent: supplier.Failed}},
	}
	for class, abilities := range map[string]suppliertest.Abilities{
		sandbox.ClassHonorsKey: {Poll: true, Cancel: true, Stream: true, Probe: true, HonorKey: true},
		sandbox.ClassFindable:  {Poll: true, Cancel: true, Stream: true, Probe: true, Find: true},
		sandbox.ClassNeither:   {Poll: true, Cancel: true, Stream: true, Probe: true},
	} {
		t.Run(class, func(t *testing.T) {
			suppliertest.Run(t, suppliertest.Harness{
				Kind: sandbox.Kind(), Config: supplier.Config{Options: map[string]string{"class": class}},
				Abilities: abilities, Cases: cases, Faults: faults, Toolless: true,
			})
		})
	}
}

// filesHold looks at each file of a result.
func filesHold(t *testing.T, got *supplier.Result) {
	t.Helper()
	for _, f := range got.Files {
		checkBytes(t, f)
	}
}

// The whole directory is served: each capability's example works, media aside.
func TestServesTheCatalog(t *testing.T) {
	t.Parallel()
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	capabilities := directory.All()
	if len(capabilities) == 0 {
		t.Fatal("the directory is empty")
	}
	for _, c := range capabilities {
		example, refused := catalog.Decode(c.Example, catalog.Limits{})
		if refused != nil {
			t.Fatal(refused)
		}
		r := request(string(c.Name), string(example.Input), string(example.Parameters))
		for _, pointer := range catalog.MediaPointers(c, example.Input) {
			given := picture(t, 64, 64)
			if c.MediaKind(pointer) == "video" {
				given = exampleOf(t, c.Name, "video")
			}
			r = with(r, pointer, given)
		}
		if !sandbox.Kind().Serves(c.Name) {
			t.Errorf("%s is not served", c.Name)
		}
		a := mustNew(t, "sandbox-a", instant)
		o, err := a.Submit(t.Context(), r)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if ready(t, a, o) == nil {
			t.Errorf("%s: no result", c.Name)
		}
	}
}
