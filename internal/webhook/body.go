package webhook

import "unitask/internal/jsonwrite"

// TypeTest is the type of an event that no task caused: a trial of the endpoint.
const TypeTest = "webhook.test"

// Type returns the event's type as receivers read it, such as task.succeeded.
func (e Event) Type() string {
	if e.State == "" {
		return TypeTest
	}
	return "task." + string(e.State)
}

// Body returns the event as it is sent, the same on every attempt. It has neither input nor output.
func (e Event) Body() []byte {
	w := jsonwrite.New(512)
	w.Begin('{')
	w.Name("type")
	w.String(e.Type())
	w.Name("timestamp")
	w.Millis(e.At)
	w.Name("data")
	w.Begin('{')
	for _, member := range [...]struct{ name, value string }{
		{"id", e.TaskID}, {"capability", e.Capability}, {"state", string(e.State)}, {"code", string(e.Code)}, {"request_id", e.RequestID},
	} {
		if member.value != "" {
			w.Name(member.name)
			w.String(member.value)
		}
	}
	e.Metadata.Write(w)
	w.End('}')
	w.End('}')
	body, err := w.Bytes()
	if err != nil { // no member is of a kind that can fail
		panic(err)
	}
	return body
}
