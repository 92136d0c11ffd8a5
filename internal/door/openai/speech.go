package openai

import (
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Speech reads the request of a spoken text.
func Speech(raw []byte) (Call, error) { return read(raw, speechMembers, (*request).speech) }

var speechNames = []renaming{
	{from: catalog.GroupInput + ".text", to: "input"}, {from: catalog.GroupParameters + ".format", to: "response_format"},
}

func (r *request) speech() Call {
	c := Call{Model: string(r.Text(r.values, "", fieldModel)), Base: speechBase, renamed: speechNames, answer: (*Call).spoken}
	c.Body = creation(c.Model, len(r.values["input"]), func(w *jsonwrite.Writer) {
		inbound.Copy(w, r.values, "input", "text")
		inbound.Copy(w, r.values, "instructions", "instructions")
	}, func(w *jsonwrite.Writer) {
		if voice, ok := r.values["voice"]; ok && voice[0] == '{' {
			r.Row("voice", "must be a voice's name")
		}
		inbound.Copy(w, r.values, "voice", "voice")
		inbound.Copy(w, r.values, "speed", "speed")
		r.recording(w)
	})
	return c
}

// recording writes the file format, whose default isn't the capability's.
func (r *request) recording(w *jsonwrite.Writer) {
	const at = "response_format"
	switch value, ok := r.values[at]; {
	case !ok:
		named(w, "format", "mp3")
	case quoted(value, "pcm"):
		r.Row(at, "can't be pcm here; wav has the same samples behind a header")
	default:
		inbound.Copy(w, r.values, at, "format")
	}
}

// spoken returns the answer of a recording: its bytes.
func (c *Call) spoken(t *task.Task, _ Link) (Answer, error) {
	made := filesOf(t, "audio/")
	if len(made) == 0 {
		return Answer{}, otherOutput(t, nil)
	}
	return Answer{made[0].ContentType, []Piece{{File: &made[0]}}}, nil
}
