package storetest

import (
	"time"

	"pgregory.net/rapid"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

func (m *model) list(rt *rapid.T) {
	q := store.ListQuery{
		Scope:       drawScope(rt),
		Scopes:      rapid.SampledFrom([][]string{nil, {"text.*"}, {chat, "video.*"}}).Draw(rt, "scopes"),
		Capability:  rapid.SampledFrom([]string{"", "", chat}).Draw(rt, "capability"),
		State:       rapid.SampledFrom(append(task.States(), "", "")).Draw(rt, "state"),
		Metadata:    metadata.Draw(rt, "metadata"),
		KeyID:       rapid.SampledFrom([]string{"", "", "", "key_1", "key_2"}).Draw(rt, "key"),
		Code:        rapid.SampledFrom([]fault.Code{"", "", "", fault.ProviderTimeout}).Draw(rt, "code"),
		Kept:        rapid.IntRange(0, 3).Draw(rt, "kept") == 0,
		Limit:       rapid.IntRange(0, 4).Draw(rt, "limit"),
		OldestFirst: rapid.Bool().Draw(rt, "oldest first"),
	}
	if rapid.IntRange(0, 3).Draw(rt, "everywhere") == 0 {
		q.Everywhere, q.Scope.Account = true, ""
		q.Scope.Mode = rapid.SampledFrom([]task.Mode{"", task.Live, task.Test}).Draw(rt, "mode")
	}
	if rapid.Bool().Draw(rt, "go on") {
		q.Cursor = m.drawID(rt)
	}
	for name, at := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if rapid.IntRange(0, 2).Draw(rt, name) == 0 {
			*at = task.IDTime(m.drawID(rt)).Add(time.Duration(rapid.IntRange(-1, 1).Draw(rt, name+" by")) * time.Millisecond)
		}
	}
	got, err := m.Store.ListTasks(background(), q)
	want, wantErr := m.oracle.ListTasks(background(), q)
	same(rt, "ListTasks", got, want, err, wantErr)
}
