package policy

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// Moderation is a supplier who is asked about the texts of live tasks before their work begins.
type Moderation struct {
	Supplier     string
	Model        string
	Adapter      supplier.Moderator
	Capabilities []string   // as those of a Rule
	Price        task.Price // the supplier's price for the texts
	AllowFailed  bool       // work goes on if the supplier can't be asked
}

// Verdict is a moderation supplier's answer about one task.
type Verdict struct {
	Fault *fault.Error // why the content is refused; nil: it isn't
	Note  string       // for the operator: the supplier's words for why
	Usage task.Usage   // the size of the texts
	Cost  task.Money
}

// ModerationFor returns who is asked about a capability's texts; nil for no moderation. Test keys reach no paid
// supplier, so that theirs are never sent. Texts that are to be judged may be harmful, unless the operator names
// that capability.
func (p *Policy) ModerationFor(mode task.Mode, c catalog.Capability) *Moderation {
	if p == nil || p.Moderation == nil || mode != task.Live || len(p.Moderation.Capabilities) == 0 && c.Base() == catalog.TextModerate || !holdsFor(p.Moderation.Capabilities, c) {
		return nil
	}
	return p.Moderation
}

// Prose returns the texts that a moderation supplier reads: all but those of a media value.
func Prose(all []catalog.Text) []catalog.Text {
	return slices.DeleteFunc(all, func(t catalog.Text) bool { return t.Media || strings.TrimSpace(t.Text) == "" })
}

// Plan is the question about the texts as the ledger records it.
func (m *Moderation) Plan(texts []catalog.Text) task.Plan {
	return task.Plan{
		Supplier: m.Supplier, Model: m.Model, Moderation: true, Reason: "asked about the content before its work begins",
		Estimate: m.Price.Cost(m.measure(texts)),
	}
}

// measure counts the texts as they are asked about, in one request.
func (m *Moderation) measure(texts []catalog.Text) (u task.Usage) {
	if m.Price.CountsRequests() {
		u.Requests = 1
	}
	for _, t := range texts {
		u.InputTokens += int64(len(t.Text)+bytesPerToken-1) / bytesPerToken
		u.Characters += int64(utf8.RuneCountInString(t.Text))
	}
	return u
}

// Ask puts the texts to the supplier, once. Its error is a *supplier.Error.
func (m *Moderation) Ask(ctx context.Context, texts []catalog.Text) (Verdict, error) {
	v := Verdict{Usage: m.measure(texts)}
	asked := make([]string, len(texts))
	for i, t := range texts {
		asked[i] = t.Text
	}
	judged, err := m.Adapter.Moderate(ctx, m.Model, asked)
	if err != nil {
		return Verdict{}, err
	}
	v.Cost = m.Price.Cost(v.Usage)
	var rows []fault.Detail
	var why []string
	for i, j := range judged {
		if j.Flagged && len(rows) < mostRows {
			rows = append(rows, fault.Detail{Field: texts[i].Field, Message: "was refused by review"})
			why = append(why, j.Categories...)
		}
	}
	if len(rows) > 0 {
		slices.Sort(why)
		v.Fault, v.Note = violation(rows), "flagged: "+strings.Join(slices.Compact(why), ", ")
	}
	return v, nil
}

// bytesPerToken is about that of English text: moderation answers have no token counts.
const bytesPerToken = 4
