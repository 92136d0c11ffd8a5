package openai

import (
	"encoding/json"

	"unitask/internal/jsonread"
	"unitask/internal/task"
)

// partsOf reads the output of a task that succeeded.
func partsOf(t *task.Task) (p task.Parts, err error) {
	read := false
	if t.Output != nil {
		p, read = readParts(t.Output.JSON)
	}
	if !read {
		p = task.Parts{}
		err = outputOf(t, &p)
	}
	if err != nil || p.Text == nil {
		return p, otherOutput(t, err)
	}
	return p, nil
}

// readParts reads the output of a chat as encoding/json does, only faster; false if it is of another form.
func readParts(output []byte) (p task.Parts, ok bool) {
	in := jsonread.New(output)
	for m := in.Only("text", "finish_reason", "reasoning", "state", "data", "tool_calls", "citations"); m.Next(); {
		var inner any
		switch m.Name {
		case "text":
			_, said := in.Text()
			p.Text = new(string(said))
		case "finish_reason":
			_, said := in.Text()
			p.FinishReason = string(said)
		case "reasoning":
			_, said := in.Text()
			p.Reasoning = string(said)
		case "state":
			_, said := in.Text()
			p.State = string(said)
		case "tool_calls":
			inner = &p.ToolCalls
		case "citations":
			inner = &p.Citations
		default:
			in.Skip() // the text, as JSON
		}
		if inner != nil && json.Unmarshal(in.Value(), inner) != nil {
			return p, false
		}
	}
	return p, in.Done()
}
