package webhook

import "unitask/internal/jsonwrite"

// TypeTest is the type of an event that no task caused: a trial of the endpoint.
const TypeTest = "webhook.test"

// TypeBudget is the type of an event about a budget.
const TypeBudget = "budget.warning"

// Type returns the event's type as receivers read it, such as task.succeeded.
func (e Event) Type() string {
	switch {
	case e.Budget != nil:
		return TypeBudget
	case e.State == "":
		return TypeTest
	default:
		return "task." + string(e.State)
	}
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
	if e.Budget != nil {
		e.Budget.write(w)
	}
	w.End('}')
	w.End('}')
	body, err := w.Bytes()
	if err != nil { // no member is of a kind that can fail
		panic(err)
	}
	return body
}

// write writes the members of the data about a budget.
func (b *Budget) write(w *jsonwrite.Writer) {
	for _, member := range [...]struct{ name, value string }{
		{"account_id", b.Account}, {"key_id", b.Key}, {"budget", b.Amount.String()}, {"spent", b.Spent.String()}, {"period", b.Period},
	} {
		if member.value != "" {
			w.Name(member.name)
			w.String(member.value)
		}
	}
	w.Name("percent")
	w.Int(int64(b.Percent))
	w.Name("threshold")
	w.Int(int64(b.Part))
	w.Name("ends_at")
	w.Millis(b.Ends)
}
