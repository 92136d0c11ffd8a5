package api

import "unitask/internal/jsonwrite"

// Write appends the task as encoding/json writes it, only faster: most responses are of this kind.
func (t *Task) Write(w *jsonwrite.Writer) {
	w.Begin('{')
	text(w, "id", t.ID)
	text(w, "capability", t.Capability)
	text(w, "mode", string(t.Mode))
	text(w, "state", string(t.State))
	w.Name("progress")
	if t.Progress != nil {
		w.Float(*t.Progress)
	} else {
		w.Null()
	}
	w.Name("created_at")
	t.CreatedAt.write(w)
	w.Name("updated_at")
	t.UpdatedAt.write(w)
	w.Name("finished_at")
	if t.FinishedAt != nil {
		t.FinishedAt.write(w)
	} else {
		w.Null()
	}
	t.writeOutput(w)
	nullable(w, "error", t.Error)
	w.Name("usage")
	if t.Usage != nil {
		t.Usage.write(w)
	} else {
		w.Null()
	}
	t.Metadata.Write(w)
	if t.RequestID != "" {
		text(w, "request_id", t.RequestID)
	}
	w.End('}')
}

func (t *Task) writeOutput(w *jsonwrite.Writer) {
	if t.Output == nil || t.Output.JSON == nil {
		nullable(w, "output", t.Output)
		return
	}
	w.Name("output")
	w.JSON(t.Output.JSON)
}

func (u *Usage) write(w *jsonwrite.Writer) {
	w.Begin('{')
	u.Work.write(w)
	if u.Seconds != "" {
		w.Name("seconds")
		w.JSON([]byte(u.Seconds))
	}
	w.Name("cost")
	w.Begin('{')
	text(w, "currency", u.Cost.Currency)
	text(w, "amount", u.Cost.Amount)
	w.End('}')
	w.End('}')
}

func (t Timestamp) write(w *jsonwrite.Writer) { w.Millis(t.Time) }

func text(w *jsonwrite.Writer, name, value string) {
	w.Name(name)
	w.String(value)
}

func number(w *jsonwrite.Writer, name string, n int64) {
	if n != 0 {
		w.Name(name)
		w.Int(n)
	}
}

func nullable[T any](w *jsonwrite.Writer, name string, v *T) {
	w.Name(name)
	if v != nil {
		w.Any(v)
	} else {
		w.Null()
	}
}
