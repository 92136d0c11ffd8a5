package upstream_test

import (
	"fmt"
	"net/http"
	"slices"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/fal"
	"unitask/internal/supplier/gemini"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/replicate"
	"unitask/internal/supplier/unitask"
	"unitask/internal/task"
)

// The names that no caller may see. That of the model is one that the formats take in a path.
const (
	firstName   = "zaphod-first"
	secondName  = "zaphod-second"
	modelName   = "zaphod/beeblebrox-9b"
	supplierKey = "zarquon-secret-key"
	jobID       = "job-zarquon-77"
	prompt      = "Forty-two towels"
)

// dialect is one format, for one capability: the real adapter, and its supplier's answers.
type dialect struct {
	kind       supplier.Kind
	capability catalog.Name
	input      string
	model      string
	unit       task.Unit
	maps       []string
	phases     []phase // those that it has; in order
	phaseOf    func(r *http.Request) phase
	answer     func(w http.ResponseWriter, r *http.Request, s *fakeSupplier)
	working    http.HandlerFunc // the news of a job that goes on
	stream     parts            // the answer as a stream
	trouble    string           // an event with an error, which repeats the supplier's secrets
	honours    bool             // a submission that comes again under its key is the same one
	keyed      bool             // the result is opened with the supplier's key, at the supplier's own address
	roomy      bool             // its answers have room for mebibytes, whatever the request
	says       [2]string        // a streamed answer's thoughts, text and arguments, in its two pieces

	// Of the chats with tools.
	about      string            // of the kind's chats, which these are; "" for all
	answers    string            // how the supplier answers; the end of the name
	parameters string            // "" for none
	base       string            // the end of the base URL
	options    map[string]string // of the supplier
	rows       []string          // the failures that it is tried with; nil: all
	holds      []string          // parts of the request that each submission holds
	private    string            // a word of request and answer that no operator may see
	brings     *task.Parts       // the output, but for the ids of tool calls and the state
}

// name is the dialect's in the table.
func (d dialect) name() string { return d.family() + d.answers }

// family is the name of all dialects that differ in their answers alone.
func (d dialect) family() string { return d.kind.Name + " " + string(d.capability) + d.about }

// tries reports whether the dialect is tried with a failure.
func (d dialect) tries(f failure) bool { return d.rows == nil || slices.Contains(d.rows, f.name) }

// next returns the phase after p; "" after the last.
func (d dialect) next(p phase) phase {
	if i := slices.Index(d.phases, p); i >= 0 && i+1 < len(d.phases) {
		return d.phases[i+1]
	}
	return ""
}

// hasJob reports whether the work is a job that is asked after.
func (d dialect) hasJob() bool { return slices.Contains(d.phases, poll) }

// sync reports whether the capability is done within the request that asks for it.
func (d dialect) sync() bool { return d.capability == "text.chat" }

// price is a supplier's price: so much a unit of its results.
func (d dialect) price(usd task.Money) task.Price { return task.Price{Unit: d.unit, Output: usd} }

// cost is the cost of the dialect's result at a price: ten tokens, one image or a video of the
// directory's default length.
func (d dialect) cost(usd task.Money) task.Money {
	return d.price(usd).Cost(task.Usage{OutputTokens: 10, Images: 1, Milliseconds: filmSeconds * 1000})
}

func onlySubmit(*http.Request) phase { return submit }

// byMethod takes each POST for a submission, and each GET for a poll unless it is for a file.
func byMethod(r *http.Request) phase {
	switch {
	case r.Method == http.MethodPost:
		return submit
	case sends(r, http.MethodGet, "/files/zarquon", "/files/zarquon:download"):
		return transfer
	default:
		return poll
	}
}

func dialects() []dialect { return append(plainDialects(), richChats()...) }

// plainDialects are those that are tried with every failure.
func plainDialects() []dialect {
	chat := dialect{
		capability: "text.chat", input: `{"prompt":"` + prompt + `"}`, model: modelName, unit: task.PerMillionTokens,
		phases: []phase{submit, streamed, opening, middle, ending}, phaseOf: onlySubmit, trouble: events(denied),
		says: words,
	}
	image := dialect{
		capability: "image.generate", input: `{"prompt":"` + prompt + `"}`, model: modelName, unit: task.PerImage,
		phases: []phase{submit, poll, transfer}, phaseOf: byMethod,
	}
	return []dialect{
		openaiChat(chat), anthropicChat(chat), geminiChat(chat), unitaskChat(chat), openaiImage(image), falImage(image), replicateImage(image),
		unitaskImage(image), geminiVideo(),
	}
}

func openaiChat(d dialect) dialect {
	d.kind, d.stream = openai.Kind(), openaiStream()
	d.answer = func(w http.ResponseWriter, _ *http.Request, _ *fakeSupplier) {
		say(w, `{"model":%q,"choices":[{"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":10,"completion_tokens":10}}`, modelName)
	}
	return d
}

func anthropicChat(d dialect) dialect {
	d.kind, d.stream = anthropic.Kind(), anthropicStream()
	d.answer = func(w http.ResponseWriter, _ *http.Request, _ *fakeSupplier) {
		say(w, `{"id":%q,"type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":"Yes."}],
			"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":10}}`, jobID, modelName)
	}
	return d
}

func geminiChat(d dialect) dialect {
	d.kind, d.stream = gemini.Kind(), geminiStream()
	d.answer = func(w http.ResponseWriter, _ *http.Request, _ *fakeSupplier) {
		say(w, `{"candidates":[{"content":{"parts":[{"text":"Yes."}],"role":"model"},"finishReason":"STOP"}],"modelVersion":%q,
			"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":10}}`, modelName)
	}
	return d
}

// unitaskChat is another gateway: it takes a creation under the same key for the same task.
func unitaskChat(d dialect) dialect {
	d.kind, d.honours, d.roomy, d.stream = unitask.Kind(), true, true, unitaskStream()
	d.trouble = named("task", fmt.Sprintf(`{"id":%q,"state":"failed","error":{"code":"INTERNAL","message":%q}}`, jobID, leak))
	d.answer = func(w http.ResponseWriter, _ *http.Request, _ *fakeSupplier) {
		say(w, `{"id":%q,"state":"succeeded","output":{"text":"Yes.","finish_reason":"stop"},
			"usage":{"input_tokens":10,"output_tokens":10}}`, jobID)
	}
	return d
}

// openaiImage answers with the address of its picture: it has no job that could be asked after.
func openaiImage(d dialect) dialect {
	d.kind, d.phases = openai.Kind(), []phase{submit, transfer}
	d.answer = func(w http.ResponseWriter, r *http.Request, s *fakeSupplier) {
		if byMethod(r) == transfer {
			_, _ = w.Write(picture())
			return
		}
		say(w, `{"data":[{"url":%q}],"usage":{"input_tokens":10,"output_tokens":10}}`, s.file())
	}
	return d
}

func falImage(d dialect) dialect {
	d.kind, d.maps = fal.Kind(), []string{"testdata/models.yaml"}
	d.working = answer("application/json", `{"status":"IN_PROGRESS"}`)
	d.answer = func(w http.ResponseWriter, r *http.Request, s *fakeSupplier) {
		switch {
		case byMethod(r) == submit:
			say(w, `{"status":"IN_QUEUE","request_id":%q}`, jobID)
		case byMethod(r) == transfer:
			_, _ = w.Write(picture())
		case sends(r, http.MethodGet, "/status"):
			say(w, `{"status":"COMPLETED"}`)
		default:
			say(w, `{"images":[{"url":%q,"content_type":"image/png"}]}`, s.file())
		}
	}
	return d
}

func replicateImage(d dialect) dialect {
	d.kind, d.maps = replicate.Kind(), []string{"testdata/models.yaml"}
	d.working = answer("application/json", `{"id":"`+jobID+`","status":"processing"}`)
	d.answer = func(w http.ResponseWriter, r *http.Request, s *fakeSupplier) {
		switch byMethod(r) {
		case submit:
			w.WriteHeader(http.StatusCreated)
			say(w, `{"id":%q,"status":"starting"}`, jobID)
		case transfer:
			_, _ = w.Write(picture())
		default:
			say(w, `{"id":%q,"status":"succeeded","output":{"images":[{"url":%q}]}}`, jobID, s.file())
		}
	}
	return d
}

// unitaskImage is another gateway with a job.
func unitaskImage(d dialect) dialect {
	d.kind, d.honours = unitask.Kind(), true
	d.working = answer("application/json", `{"id":"`+jobID+`","state":"running"}`)
	d.answer = func(w http.ResponseWriter, r *http.Request, s *fakeSupplier) {
		switch byMethod(r) {
		case submit:
			w.WriteHeader(http.StatusAccepted)
			say(w, `{"id":%q,"state":"queued"}`, jobID)
		case transfer:
			_, _ = w.Write(picture())
		default:
			say(w, `{"id":%q,"state":"succeeded","output":{"images":[{"id":"art_0123456789abcdefghijklmnop","url":%q,"content_type":"image/png"}]}}`, jobID, s.file())
		}
	}
	return d
}

func geminiVideo() dialect {
	const operation = "models/zaphod/operations/" + jobID
	return dialect{
		kind: gemini.Kind(), capability: "video.generate", input: `{"prompt":"` + prompt + `"}`, model: modelName,
		unit: task.PerSecond, phases: []phase{submit, poll, transfer}, phaseOf: byMethod, keyed: true,
		working: answer("application/json", `{"name":"`+operation+`","done":false}`),
		answer: func(w http.ResponseWriter, r *http.Request, s *fakeSupplier) {
			switch byMethod(r) {
			case submit:
				say(w, `{"name":%q}`, operation)
			case transfer:
				_, _ = w.Write(film())
			default:
				say(w, `{"name":%q,"done":true,"response":{"generateVideoResponse":{"generatedSamples":[
					{"video":{"uri":"http://%s/v1beta/files/zarquon:download"}}]}}}`, operation, s.api.address)
			}
		},
	}
}
