package console

import (
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// taskView is the data of the page of one task. Parts that the visitor may not see are nil.
type taskView struct {
	taskRow
	Account  string
	Asker    asker
	Asked    *asked // of the visitor's account, like Own
	Timeline []step
	Own      *api.Task      // of the visitor's account: output, error, usage
	Result   *result        // its output
	Files    []media        // of the output
	Admin    *api.AdminTask // for operators
	LiveAt   string         // the address at which the page's script follows it; "" after its end
}

// Live reports whether the task still goes on.
func (t taskView) Live() bool { return !t.State.Terminal() }

// step is a state and how long the task was in it, so far for the last one that isn't an end.
type step struct {
	api.Move
	Stayed time.Duration
}

// media is a file of the output.
type media struct {
	api.Artifact
	Kind string // "image", "video" or "audio"
	Gone bool
}

func (c *Console) handleTask(x exchange) error {
	v, err := c.taskView(x, x.r.PathValue("task_id"))
	if err != nil {
		return err
	}
	return c.show(x, page{Name: "task", Section: "tasks", Title: v.Capability, Data: v})
}

// taskView returns a task of the visitor's account with its output, and for operators any task with its
// attempts. Another account's is NOT_FOUND for members.
func (c *Console) taskView(x exchange, id string) (taskView, error) {
	v, err := c.ownView(x, id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return v, err
	}
	if !operates(x.visitor) {
		return v, err
	}
	admin, err := c.operator.Task(x.r.Context(), id)
	if err != nil {
		return v, err
	}
	if v.Own == nil {
		v = taskView{taskRow: c.foreignRow(admin), Account: admin.Account, Timeline: c.steps(admin.Timeline)}
		owner, err := c.operator.GetAccount(x.r.Context(), admin.Account)
		if err != nil {
			return v, err
		}
		if v.Asker, err = c.askerOf(x, owner, admin.Mode, admin.KeyID); err != nil {
			return v, err
		}
	}
	v.Admin = &admin
	return v, nil
}

func (c *Console) ownView(x exchange, id string) (taskView, error) {
	t, err := c.ownTask(x, id)
	if err != nil {
		return taskView{}, err
	}
	own := api.FromTask(t, c.linkOf)
	v := taskView{
		taskRow: c.ownRow(t), Account: x.visitor.Account.Name, Timeline: c.steps(api.TimelineOf(t).Data), Own: &own,
	}
	if v.Asked, err = c.askedOf(x, t); err != nil {
		return v, err
	}
	if v.Asker, err = c.askerOf(x, c.operator.Member(x.visitor).Account(), t.Scope.Mode, t.KeyID); err != nil {
		return v, err
	}
	if own.Output != nil {
		if v.Own.Output, err = own.Output.Read(); err != nil {
			return taskView{}, err
		}
		v.Result = resultOf(v.Capability, v.Own.Output)
		v.add(v.Own.Output.Artifacts())
	}
	for i := range v.Files {
		v.Files[i].Gone = !c.now().Before(v.Files[i].ExpiresAt.Time)
	}
	if v.Live() {
		v.LiveAt = c.path("/api/" + string(t.Scope.Mode) + "/tasks/" + t.ID)
	}
	return v, nil
}

// ownTask finds only tasks of the visitor's account, in either mode.
func (c *Console) ownTask(x exchange, id string) (t task.Task, err error) {
	for _, mode := range []task.Mode{task.Live, task.Test} {
		t, err = c.gateway.Get(x.r.Context(), callerOf(x.visitor, mode), id)
		if err == nil || fault.CodeOf(err) != fault.NotFound {
			return t, err
		}
	}
	return t, err
}

func (v *taskView) add(files []api.Artifact) {
	for _, a := range files {
		kind, _, _ := strings.Cut(a.ContentType, "/")
		v.Files = append(v.Files, media{Artifact: a, Kind: kind})
	}
}

func (c *Console) steps(moves []api.Move) []step {
	steps := make([]step, 0, len(moves))
	for i, m := range moves {
		s := step{Move: m}
		switch {
		case i+1 < len(moves):
			s.Stayed = moves[i+1].At.Sub(m.At.Time)
		case !m.State.Terminal():
			s.Stayed = c.now().Sub(m.At.Time)
		}
		s.Stayed = max(0, s.Stayed)
		steps = append(steps, s)
	}
	return steps
}

func (c *Console) handleTaskCancel(x exchange) error {
	t, err := c.ownTask(x, x.r.PathValue("task_id"))
	if err != nil {
		return err
	}
	if _, err := c.gateway.Cancel(x.r.Context(), callerOf(x.visitor, t.Scope.Mode), t.ID); err != nil {
		return err
	}
	c.goTo(x, x.r, "/tasks/"+t.ID)
	return nil
}
