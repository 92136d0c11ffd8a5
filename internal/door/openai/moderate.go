package openai

import (
	"slices"

	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Moderations reads the request of a moderation.
func Moderations(raw []byte) (Call, error) {
	return read(raw, moderationMembers, (*request).moderation)
}

func (r *request) moderation() Call {
	c := Call{Model: r.model(moderateBase), Base: moderateBase, answer: (*Call).judged}
	c.Body = creation(c.Model, len(r.values["input"]), func(w *jsonwrite.Writer) {
		if value := r.values["input"]; value != nil && value[0] == '[' {
			r.values["input"] = r.onePart(value)
		}
		c.oneText = r.texts(w)
	}, func(*jsonwrite.Writer) {})
	return c
}

// onePart returns the text of an input that is a list of one part, which is judged as one; any other input as it is.
func (r *request) onePart(input []byte) []byte {
	n, objects := 0, 0
	text := input
	inbound.Elements(input, func(_ int, one []byte) {
		if n++; one[0] != '{' {
			return
		}
		if objects++; objects > 1 {
			return
		}
		text = []byte(`""`) // if it has none, which is noted
		kind, ok := r.Kind(one, "input[0]", "type", false)
		if !ok {
			return
		}
		if kind != "text" {
			r.Row("input[0].type", "must be text; images are not taken")
			return
		}
		given := r.Members(one, "input[0]", parts["text"])
		if r.Text(given, "input[0]", "text") != nil {
			text = given["text"]
		}
	})
	if objects > 0 && n > 1 {
		r.Row("input", "must be a text, a list of texts or one part of a text")
	}
	return text
}

// harms are OpenAI's categories with the service's names; "": the service doesn't tell it from its wider one.
var harms = []struct{ name, ours string }{
	{"harassment", "harassment"},
	{"harassment/threatening", ""},
	{"hate", "hate"},
	{"hate/threatening", ""},
	{"illicit", "illicit"},
	{"illicit/violent", ""},
	{"self-harm", "self_harm"},
	{"self-harm/intent", ""},
	{"self-harm/instructions", ""},
	{"sexual", "sexual"},
	{"sexual/minors", "sexual_minors"},
	{"violence", "violence"},
	{"violence/graphic", ""},
	{"personal_data", "personal_data"}, // these two are the service's own
	{"other", "other"},
}

// judgement is what the service says of a text.
type judgement struct {
	Flagged    bool
	Categories []string
	Scores     map[string]float64
}

// judged returns the answer of a moderation.
func (c *Call) judged(t *task.Task, _ Link) (Answer, error) {
	var out struct{ Results []judgement }
	if err := outputOf(t, &out); err != nil || len(out.Results) == 0 {
		return Answer{}, otherOutput(t, err)
	}
	w := jsonwrite.New(1 << 10)
	w.Begin('{')
	named(w, "id", t.ID)
	named(w, fieldModel, c.Model)
	w.Name("results")
	w.Begin('[')
	for _, one := range out.Results {
		one.write(w)
	}
	w.End(']')
	w.End('}')
	return inJSON(w)
}

func (j judgement) write(w *jsonwrite.Writer) {
	w.Begin('{')
	w.Name("flagged")
	w.Bool(j.Flagged)
	each := func(name string, write func(ours string)) {
		w.Name(name)
		w.Begin('{')
		for _, h := range harms {
			w.Key(h.name)
			write(h.ours)
		}
		w.End('}')
	}
	each("categories", func(ours string) {
		if ours == "" {
			w.Null()
		} else {
			w.Bool(slices.Contains(j.Categories, ours))
		}
	})
	each("category_scores", func(ours string) {
		if score, known := j.Scores[ours]; known {
			w.Float(score)
		} else {
			w.Null()
		}
	})
	each("category_applied_input_types", func(ours string) {
		w.Begin('[')
		if ours != "" {
			w.String("text")
		}
		w.End(']')
	})
	w.End('}')
}
