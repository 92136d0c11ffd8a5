package invariant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

const (
	paidID = "task_paid"
	fileID = "task_file"
)

// sound returns the observation of a service that keeps its promises: a paid task that was killed after its first
// submission and retried by its caller, and one with a file.
func sound() *invariant.Observation {
	return &invariant.Observation{
		Counted: map[string]bool{"paid": true},
		Listed:  []string{paidID, fileID},
		Submissions: []invariant.Submission{
			{Key: "k1", Supplier: "paid", Charge: 30},
			{Key: "k1", Supplier: "paid", Charge: 30},
		},
		Tasks: []invariant.Task{
			{
				Key: "k1", Posts: 2, Shown: 1, Acknowledged: []string{paidID, paidID}, Found: true, Answer: new("yes"),
				Seen: []task.State{task.Running, task.Running, task.Failed, task.Succeeded},
				Final: api.Task{
					ID: paidID, State: task.Succeeded, Output: &api.Output{Text: new("yes")},
					Usage: &api.Usage{Cost: api.Cost{Amount: task.Money(30).String()}},
				},
				Ledger: api.AdminTask{
					ID: paidID, State: task.Succeeded, Reopenings: 1, Reserved: task.Money(40).String(), Cost: task.Money(30).String(),
					Timeline: timeline(task.Queued, task.Running, task.Failed, task.Queued, task.Running, task.Transferring, task.Succeeded),
					Attempts: []api.AdminAttempt{
						{N: 1, Supplier: "paid", State: task.UnknownOutcome, Cost: "0", CostUnknown: true},
						{N: 2, Supplier: "paid", State: task.OK, Cost: task.Money(30).String()},
					},
				},
				Snapshots: []api.AdminTask{{Attempts: []api.AdminAttempt{{N: 1, Supplier: "paid", State: task.Intent}}}},
			},
			{
				Key: "k2", Posts: 1, Acknowledged: []string{fileID}, Found: true,
				Seen: []task.State{task.Queued, task.Succeeded},
				Final: api.Task{ID: fileID, State: task.Succeeded, Output: &api.Output{
					Images: []api.Artifact{{ID: "art_1", Bytes: 3, SHA256: "abc"}},
				}},
				Ledger: api.AdminTask{
					ID: fileID, State: task.Succeeded, Reserved: "0", Cost: "0",
					Timeline: timeline(task.Queued, task.Running, task.Transferring, task.Succeeded),
					Attempts: []api.AdminAttempt{{N: 1, Supplier: "free", State: task.OK, Cost: "0"}},
				},
				Files: []invariant.File{{ID: "art_1", Bytes: 3, SHA256: "abc"}},
			},
		},
	}
}

// end has the task end otherwise than well.
func end(t *invariant.Task, s task.State) {
	t.Final.State, t.Ledger.State, t.Final.Output = s, s, nil
	t.Seen = t.Seen[:3]
	t.Ledger.Timeline = timeline(task.Queued, task.Running, task.Failed, task.Queued, task.Running, s)
	t.Ledger.Attempts[1].ClosedAt = &api.Timestamp{Time: time.Unix(9, 0)}
}

func timeline(states ...task.State) []api.Move {
	var moves []api.Move
	for i, s := range states {
		moves = append(moves, api.Move{State: s, At: api.Timestamp{Time: time.Unix(int64(i), 0)}})
	}
	return moves
}

func TestSound(t *testing.T) {
	if found := invariant.Check(*sound()); found != nil {
		t.Errorf("a sound service is blamed: %v", found)
	}
}

// TestPlanted is the checker's control: each row plants one fault in the observation of a sound
// service, and the checker must name it.
func TestPlanted(t *testing.T) {
	for name, tt := range map[string]struct {
		violate func(o *invariant.Observation, paid, file *invariant.Task)
		want    []invariant.Rule
	}{
		"a lost task": {func(_ *invariant.Observation, paid, _ *invariant.Task) { paid.Found = false }, rules(invariant.Lost)},
		"a retry that got another id": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Acknowledged[1] = "task_other"
		}, rules(invariant.Identity)},
		"a task that another key has": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Acknowledged[0], file.Final.ID, file.Ledger.ID = paidID, paidID, paidID
		}, rules(invariant.Identity, invariant.Stray)},
		"a second task for a key whose first answer was lost": {func(o *invariant.Observation, _, _ *invariant.Task) {
			o.Listed = append(o.Listed, "task_second")
		}, rules(invariant.Stray)},
		"a move that doesn't exist": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Ledger.Timeline = timeline(task.Queued, task.Running, task.Succeeded)
		}, rules(invariant.Transition)},
		"a way back": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Ledger.Timeline = timeline(task.Queued, task.Running, task.Queued, task.Running, task.Transferring, task.Succeeded)
		}, rules(invariant.Transition)},
		"a timeline without a beginning": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Ledger.Timeline = file.Ledger.Timeline[1:]
		}, rules(invariant.Transition)},
		"a clock that goes back": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Ledger.Timeline[1].At = api.Timestamp{Time: time.Unix(-1, 0)}
		}, rules(invariant.Transition)},
		"a state that was read and then lost": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Seen = []task.State{task.Running, task.Queued, task.Succeeded}
		}, rules(invariant.Forgotten)},
		"a task that never ends": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Seen, file.Final.State, file.Final.Output = nil, task.Running, nil
			file.Ledger.State, file.Ledger.Timeline = task.Running, timeline(task.Queued, task.Running)
		}, rules(invariant.Unsettled)},
		"two open attempts": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Snapshots[0].Attempts = append(paid.Snapshots[0].Attempts, api.AdminAttempt{N: 2, State: task.Intent})
		}, rules(invariant.Attempts)},
		"an attempt left open": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Ledger.Attempts[0].State = task.Submitted
		}, rules(invariant.Attempts)},
		"an attempt that vanished": {func(o *invariant.Observation, paid, _ *invariant.Task) {
			paid.Ledger.Attempts, o.Submissions = paid.Ledger.Attempts[:1], o.Submissions[:1]
			paid.Snapshots[0].Attempts = append(paid.Snapshots[0].Attempts[:0], sound().Tasks[0].Ledger.Attempts...)
		}, rules(invariant.Attempts)},
		"a submission that went out twice": {func(o *invariant.Observation, _, _ *invariant.Task) {
			o.Submissions = append(o.Submissions, invariant.Submission{Key: "k1", Supplier: "paid"})
		}, rules(invariant.Resubmitted)},
		"a charge that went out twice": {func(o *invariant.Observation, _, _ *invariant.Task) {
			o.Submissions = append(o.Submissions, o.Submissions[0])
		}, rules(invariant.Resubmitted, invariant.Resubmitted, invariant.Ledger)},
		"an unknown outcome submitted anew by the service itself": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Ledger.Reopenings = 0
		}, rules(invariant.Resubmitted, invariant.Resubmitted)},
		"a retry of a caller that was never told": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Shown = 0
		}, rules(invariant.Resubmitted, invariant.Resubmitted)},
		"two charges for one failure that was shown twice": {func(o *invariant.Observation, paid, _ *invariant.Task) {
			paid.Shown, paid.Posts, paid.Ledger.Reopenings = 2, 3, 2
			o.Submissions = append(o.Submissions, o.Submissions[0])
		}, rules(invariant.Resubmitted, invariant.Resubmitted, invariant.Ledger)},
		"a retry that its caller never sent": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Posts = 1
		}, rules(invariant.Resubmitted)},
		"a submit key that was paid for twice": {func(o *invariant.Observation, _, _ *invariant.Task) {
			o.Submissions[0].SubmitKey, o.Submissions[1].SubmitKey = "k1/1", "k1/1"
		}, rules(invariant.Resubmitted)},
		"a charge of another supplier than the ledger's": {func(o *invariant.Observation, _, _ *invariant.Task) {
			o.Counted["dear"], o.Submissions[1].Supplier = true, "dear"
		}, rules(invariant.Resubmitted, invariant.Ledger)},
		"a spend that the supplier doesn't know": {func(o *invariant.Observation, _, _ *invariant.Task) {
			o.Submissions = nil
		}, rules(invariant.Ledger)},
		"a charge that the ledger doesn't know": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Ledger.Attempts[0].State, paid.Ledger.Attempts[0].CostUnknown = task.Rejected, false
		}, rules(invariant.Ledger)},
		"a cost beyond the reservation": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Ledger.Reserved = task.Money(29).String()
		}, rules(invariant.Bill)},
		"a cost that its caller isn't shown": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Final.Usage = nil
		}, rules(invariant.Bill)},
		"a failure that is charged": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			end(paid, task.Failed)
		}, rules(invariant.Bill)},
		"submitted work that is canceled for free": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			end(paid, task.Canceled)
			paid.Final.Usage, paid.Ledger.Cost = nil, "0"
		}, rules(invariant.Bill)},
		"work that was never sent and is charged": {func(o *invariant.Observation, paid, _ *invariant.Task) {
			end(paid, task.Canceled)
			paid.Ledger.Attempts[1].State, paid.Ledger.Attempts[1].Cost = task.Rejected, "0"
			o.Submissions = o.Submissions[:1]
		}, rules(invariant.Bill)},
		"a success without its output": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Final.Output = nil
		}, rules(invariant.Output)},
		"another task's answer": {func(_ *invariant.Observation, paid, _ *invariant.Task) {
			paid.Final.Output.Text = new("no")
		}, rules(invariant.Output)},
		"an artifact with other bytes": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Files[0].SHA256 = "abd"
		}, rules(invariant.Output)},
		"an artifact that is gone": {func(_ *invariant.Observation, _, file *invariant.Task) {
			file.Files = nil
		}, rules(invariant.Output)},
	} {
		t.Run(name, func(t *testing.T) {
			o := sound()
			tt.violate(o, &o.Tasks[0], &o.Tasks[1])
			var got []invariant.Rule
			for _, v := range invariant.Check(*o) {
				got = append(got, v.Rule)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rules (-want +got):\n%s\n%v", diff, invariant.Check(*o))
			}
		})
	}
}

func rules(r ...invariant.Rule) []invariant.Rule { return r }
