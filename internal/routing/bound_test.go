package routing_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/task"
)

// demand is a request that a caller may make.
type demand struct {
	capability catalog.Name
	input      map[string]any
	parameters map[string]any
	media      map[string][]byte
}

// drawDemand draws a request of a capability.
func drawDemand(t *rapid.T, name catalog.Name) demand {
	words := rapid.StringOfN(rapid.SampledFrom([]rune("abc äöü日本🦊\n\"<")), 1, 400, -1)
	text := func(label string) string { return "x" + words.Draw(t, label) } // never blank
	maybe := func(o demand, name string, g *rapid.Generator[any]) {
		if rapid.Bool().Draw(t, "with "+name) {
			o.parameters[name] = g.Draw(t, name)
		}
	}
	o := demand{capability: name, input: map[string]any{}, parameters: map[string]any{}, media: map[string][]byte{}}
	switch name {
	case "text.chat":
		o.input["messages"] = []any{
			map[string]any{"role": "user", "content": text("first")},
			map[string]any{"role": "assistant", "content": text("second")},
			map[string]any{"role": "user", "content": o.parts(t, text)},
		}
		maybe(o, "max_output_tokens", rapid.IntRange(1, 3000).AsAny())
	case "text.embed", "text.moderate":
		o.input["texts"] = rapid.SliceOfN(rapid.Just(text("text")), 1, 20).Draw(t, "texts")
	case "text.rerank":
		o.input["query"] = text("query")
		o.input["documents"] = rapid.SliceOfN(rapid.Just(text("document")), 1, 300).Draw(t, "documents")
		maybe(o, "top_n", rapid.IntRange(1, 400).AsAny())
	case "image.generate", "image.edit":
		o.input["prompt"] = text("prompt")
		o.parameters["size"] = "64x64"
		maybe(o, "n", rapid.IntRange(1, 4).AsAny())
		if name == "image.edit" {
			o.attach("/images/0", "image/png", dot)
			o.input["images"] = []any{o.input["/images/0"]}
			delete(o.input, "/images/0")
		}
	case "image.upscale", "image.background_remove":
		o.attach("/image", "image/png", dot)
		o.input["image"] = o.input["/image"]
		delete(o.input, "/image")
		if name == "image.background_remove" {
			break
		}
		maybe(o, "factor", rapid.SampledFrom([]any{2, 4}))
	case "video.extend":
		o.input["prompt"] = text("prompt")
		o.attach("/video", "video/mp4", exampleVideo(t))
		o.input["video"] = o.input["/video"]
		delete(o.input, "/video")
		o.parameters["duration_seconds"] = rapid.IntRange(1, 2).Draw(t, "seconds")
	case "video.generate":
		o.input["prompt"] = text("prompt")
		o.parameters["duration_seconds"] = rapid.IntRange(1, 2).Draw(t, "seconds")
	case "audio.speech":
		o.input["text"] = text("text")
		o.parameters["format"] = "wav"
		maybe(o, "speed", rapid.Float64Range(0.25, 4).AsAny())
	case "audio.transcribe":
		o.attach("/audio", "audio/wav", silence(rapid.IntRange(1, 40_000).Draw(t, "bytes")))
		o.input["audio"] = o.input["/audio"]
		delete(o.input, "/audio")
	}
	return o
}

// parts draws the content of a message: a text, or parts of every type.
func (o demand) parts(t *rapid.T, text func(label string) string) any {
	if rapid.Bool().Draw(t, "plain") {
		return text("third")
	}
	parts := []any{map[string]any{"type": "text", "text": text("part")}}
	for _, one := range []struct {
		kind, contentType string
		raw               func() []byte
	}{
		{"image", "image/png", func() []byte { return dot }},
		{"audio", "audio/wav", func() []byte { return silence(rapid.IntRange(1, 40_000).Draw(t, "bytes")) }},
		{"document", "text/plain", func() []byte { return []byte(text("document")) }},
		{"document", "application/pdf", func() []byte { return []byte("%PDF-1.7\n" + text("PDF")) }},
	} {
		if !rapid.Bool().Draw(t, "with "+one.contentType) {
			continue
		}
		pointer := "/messages/2/content/" + strconv.Itoa(len(parts)) + "/" + one.kind
		o.attach(pointer, one.contentType, one.raw())
		parts = append(parts, map[string]any{"type": one.kind, one.kind: o.input[pointer]})
		delete(o.input, pointer)
	}
	return parts
}

// attach puts a media value under its own pointer, to be moved to its place.
func (o demand) attach(pointer, kind string, raw []byte) {
	o.media[pointer] = raw
	o.input[pointer] = map[string]any{"content_type": kind, "data": base64.StdEncoding.EncodeToString(raw)}
}

// exampleVideo is the video of the directory's example.
func exampleVideo(t *rapid.T) []byte {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := directory.Get(catalog.VideoExtend)
	var body struct {
		Input struct {
			Video struct {
				Data []byte `json:"data"`
			} `json:"video"`
		} `json:"input"`
	}
	if err := json.Unmarshal(entry.Example, &body); err != nil {
		t.Fatal(err)
	}
	return body.Input.Video.Data
}

// films is how many videos are made: they are dear.
const films = 5

// dot is a PNG of one pixel.
var dot, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC")

// silence is a WAV of so many bytes of sound, 8,000 a second.
func silence(n int) []byte {
	var b bytes.Buffer
	u32 := func(v int) { b.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}) }
	b.WriteString("RIFF")
	u32(36 + n)
	b.WriteString("WAVEfmt ")
	u32(16)
	b.Write([]byte{1, 0, 1, 0})
	u32(8000)
	u32(8000)
	b.Write([]byte{1, 0, 8, 0})
	b.WriteString("data")
	u32(n)
	b.Write(bytes.Repeat([]byte{0x80}, n))
	return b.Bytes()
}

// TestReservationIsABound has the sandbox do random work of every capability: the measured usage never exceeds the
// estimate, in any unit, so that the reservation bounds the payment, whatever the price.
func TestReservationIsABound(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := sandbox.Kind().New(supplier.Config{Name: "sandbox", Options: map[string]string{"speed": "0"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sandbox.Kind().Capabilities {
		entry, ok := directory.Get(catalog.Name(name))
		if !ok {
			t.Fatalf("the sandbox serves %s, which isn't in the directory", name)
		}
		t.Run(name, func(t *testing.T) {
			started := 0
			rapid.Check(t, func(rt *rapid.T) {
				if started++; strings.HasPrefix(name, "video.") && started > films {
					return
				}
				o := drawDemand(rt, catalog.Name(name))
				r, estimate := o.request(rt, directory, entry)
				r.SubmitKey = name + "/" + strconv.Itoa(started) // the sandbox repeats its result under a key
				used, err := work(rt.Context(), adapter, r)
				if err != nil {
					rt.Fatalf("%s %s: %v", r.Input, r.Parameters, err)
				}
				used.Requests = 1 // as the gateway has it
				used.CacheWriteTokens = rapid.Int64Range(0, used.InputTokens).Draw(rt, "cache writes")
				used.CachedInputTokens = used.InputTokens - used.CacheWriteTokens
				used.ReasoningTokens = rapid.Int64Range(0, used.OutputTokens).Draw(rt, "reasoning")
				for _, unit := range []task.Unit{
					task.PerMillionTokens, task.PerImage, task.PerSecond, task.PerMillionCharacters, task.PerPage, task.PerRequest, task.PerSearch,
				} {
					if !unit.Measures(name) {
						continue // the settings refuse such a price
					}
					price := task.Price{Unit: unit, Input: 3 * task.USD, Output: 7 * task.USD}
					if unit == task.PerMillionTokens {
						price.Rates = &task.Rates{
							CachedInput: new(task.USD), CacheWrite: new(4 * task.USD), Reasoning: new(9 * task.USD), Request: new(task.USD),
						}
					}
					if cost, reserved := price.Cost(used), price.Most(estimate); cost > reserved {
						rt.Errorf("by %s it costs %s of %s reserved: %+v of %+v estimated\n%.300s %s", unit, cost, reserved, used, estimate, r.Input, r.Parameters)
					}
				}
			})
			if started == 0 {
				t.Error("nothing was drawn")
			}
		})
	}
}

// request is the demand as the gateway hands it on, with the estimate at acceptance.
func (o demand) request(t *rapid.T, directory *catalog.Catalog, entry catalog.Capability) (supplier.Request, task.Usage) {
	body, err := json.Marshal(map[string]any{"capability": o.capability, "input": o.input, "parameters": o.parameters})
	if err != nil {
		t.Fatal(err)
	}
	decoded, refused := catalog.Decode(body, catalog.Limits{})
	if refused == nil {
		refused = directory.Validate(decoded)
	}
	if refused != nil {
		t.Fatalf("%s: %v", body, refused)
	}
	parameters := entry.FillDefaults(decoded.Parameters)
	r := supplier.Request{
		Capability: string(o.capability), Model: "sandbox", Input: decoded.Input, Parameters: parameters,
		Media: map[string]supplier.Media{},
	}
	for pointer, raw := range o.media {
		r.Media[pointer] = supplier.Media{
			ContentType: cmp.Or(artifact.Sniff(raw), "text/plain"), Bytes: int64(len(raw)),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil },
		}
	}
	return r, routing.Estimate(entry, len(o.media), decoded.Input, parameters)
}

// work has a request done and returns its measured usage, completed from the files as the gateway does.
func work(ctx context.Context, a supplier.Adapter, r supplier.Request) (task.Usage, error) {
	out, err := a.Submit(ctx, r)
	for err == nil && out.Job != nil {
		out, err = a.(supplier.Poller).Poll(ctx, *out.Job)
	}
	if err != nil {
		return task.Usage{}, err
	}
	used := task.Usage(out.Result.Usage)
	for _, f := range out.Result.Files {
		if out.Result.Usage.Images == 0 && strings.HasPrefix(f.ContentType, "image/") {
			used.Images++
		}
		if out.Result.Usage.Milliseconds == 0 {
			used.Milliseconds += int64(f.Duration * 1000)
		}
	}
	return used, nil
}
