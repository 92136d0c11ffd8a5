package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
)

// TestSuppliersSayWhatIsWrong: the table counts refusals and says why a supplier refuses the server's key, and the
// sandbox neither looks live nor as if it cost money.
func TestSuppliersSayWhatIsWrong(t *testing.T) {
	const reason = "tripped: needs the operator: the supplier refuses the key (401)"
	all := []api.SupplierState{
		{SupplierStatus: api.SupplierStatus{Name: "badkey", Live: true, About: "text.chat"}, Today: api.SupplierUsage{Rejected: 3, Cost: "0"}, Routes: []api.RouteState{
			{Mode: task.Live, Approved: true, State: api.RouteProbing, Reason: reason, NeedsOperator: true},
		}},
		{SupplierStatus: api.SupplierStatus{Name: "groq", Live: true}, Today: api.SupplierUsage{OK: 2, Cost: "0.5"}, Routes: []api.RouteState{
			{Mode: task.Live, Approved: true, State: api.RouteOpen},
		}},
		{SupplierStatus: api.SupplierStatus{Name: "sandbox", Live: true}, Today: api.SupplierUsage{Cost: "0"}},
		{SupplierStatus: api.SupplierStatus{Name: "sandbox-a", Live: true}, Today: api.SupplierUsage{OK: 9, Cost: "0.66"}, Routes: []api.RouteState{
			{Mode: task.Test, Approved: true, State: api.RouteOpen},
		}},
	}
	for name, tt := range map[string]struct {
		tty  bool
		want [][]string
		note string
	}{
		"a person": {true, [][]string{
			{"SUPPLIER", "STATE", "ROUTES", "IN", "FLIGHT", "OK", "FAILED", "REJECTED", "MEAN", "SPENT", "TODAY"},
			{"badkey", "resting", "1", "0", "0", "0", "3", "–", "$0"},
			{"groq", "open", "1", "0", "2", "0", "0", "0s", "$0.5"},
			{"sandbox", "sandbox", "0", "0", "0", "0", "0", "–", "–"},
			{"sandbox-a", "sandbox", "1", "0", "9", "0", "0", "0s", "–"},
		}, "badkey: " + reason + "; unitask doctor says what helps\n"},
		"a program": {false, [][]string{
			append([]string{"badkey", "resting", "1", "0", "0", "0", "3", "0", "text.chat"}, strings.Fields(reason)...),
			{"groq", "open", "1", "0", "2", "0", "0", "0", "0.5"},
			{"sandbox", "sandbox", "0", "0", "0", "0", "0", "0"},
			{"sandbox-a", "sandbox", "1", "0", "9", "0", "0", "0", "0.66"},
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out, notes bytes.Buffer
			term := &terminal{out: &out, err: &notes, outTTY: tt.tty, style: newStyles(&out), width: func() int { return 80 }}
			if err := listSuppliers(term, all); err != nil {
				t.Fatal(err)
			}
			var got [][]string
			for line := range strings.Lines(out.String()) {
				got = append(got, strings.Fields(line))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || notes.String() != tt.note {
				t.Errorf("(-want +got):\n%s%s", diff, notes.String())
			}
		})
	}
}
