package server

import (
	"net/http"
	"strconv"
	"time"

	"unitask/internal/api"
	"unitask/internal/gateway"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

func (s *Server) handleCapabilities(x *exchange) error {
	s.respond(x, http.StatusOK, api.CapabilityList{Data: s.directory(x), RequestID: x.id})
	return nil
}

// directory returns what the caller may call.
func (s *Server) directory(x *exchange) []api.Capability {
	offers := s.gateway.Capabilities(*x.caller)
	all := make([]api.Capability, 0, len(offers))
	for _, o := range offers {
		all = append(all, api.FromCapability(o.Capability, o.Price))
	}
	return all
}

func (s *Server) handleTaskCreate(x *exchange) error {
	sub, err := s.submission(x, idempotencyKey)
	if err != nil {
		return err
	}
	wait := sub.Wait // the body in sub isn't held beyond Create
	accepted, err := s.gateway.Create(x.r.Context(), *x.caller, sub)
	if err != nil {
		return err
	}
	return s.answerCreate(x, wait, &accepted)
}

// handleEstimate takes the same body as a creation, without a key of its own.
func (s *Server) handleEstimate(x *exchange) error {
	sub, err := s.submission(x, func(http.Header) (string, error) { return "", nil })
	if err != nil {
		return err
	}
	defer sub.Release()
	name, most, err := s.gateway.Estimate(x.r.Context(), *x.caller, sub.Body)
	if err != nil {
		return err
	}
	s.respond(x, http.StatusOK, api.Estimate{Capability: string(name), Mode: x.caller.Key.Mode, AtMost: api.CostOf(most), RequestID: x.id})
	return nil
}

// submission reads the headers and the body of a creation: the body after everything that can be seen without it.
func (s *Server) submission(x *exchange, keyOf func(http.Header) (string, error)) (gateway.Submission, error) {
	if err := checkMediaType(x.r.Header); err != nil {
		return gateway.Submission{}, err
	}
	return s.received(x, keyOf)
}

// received is submission without a look at the media type.
func (s *Server) received(x *exchange, keyOf func(http.Header) (string, error)) (gateway.Submission, error) {
	if limit := s.body.Load(); x.r.ContentLength > limit {
		return gateway.Submission{}, tooLarge(limit)
	}
	key, wrong := keyOf(x.r.Header)
	if wrong != nil && x.r.ContentLength >= 0 {
		return gateway.Submission{}, wrong
	}
	body, err := s.readBody(x)
	if err != nil {
		return gateway.Submission{}, err
	}
	if wrong != nil { // only now is it known that the body isn't too large, which is said first
		body.release()
		return gateway.Submission{}, wrong
	}
	return gateway.Submission{
		IdempotencyKey: key, Body: body.bytes, Release: body.release, Wait: preferredWait(x.r.Header), Stream: wantsStream(x.r.Header),
		RequestID: x.id, Traceparent: traceparent(x.r.Header),
	}, nil
}

func (s *Server) answerCreate(x *exchange, wait *time.Duration, accepted *gateway.Accepted) error {
	t, h := &accepted.Task, x.Header()
	x.set("Location", s.base.Path+x.r.URL.Path+"/"+t.ID)
	applied(h, wait)
	if accepted.Replayed {
		h.Set(api.HeaderIdempotentReplay, "true")
	}
	switch {
	case t.State == task.Failed && t.Sync && accepted.Stream.Silent():
		accepted.Stream.Close()
		s.show(x, *t)
		return t.Fault()
	case accepted.Stream != nil:
		s.stream(x, accepted.Stream)
	case t.State.Terminal():
		s.respondTask(x, http.StatusOK, t)
	default:
		s.respondTask(x, http.StatusAccepted, t)
	}
	return nil
}

func (s *Server) handleTaskGet(x *exchange) error {
	if x.r.Method == http.MethodGet && wantsStream(x.r.Header) {
		return s.handleTaskFollow(x)
	}
	client, wait, id := parseIfNoneMatch(x.r.Header), preferredWait(x.r.Header), x.r.PathValue("task_id")
	var t task.Task
	var err error
	if wait == nil {
		t, err = s.gateway.Get(x.r.Context(), *x.caller, id)
	} else {
		t, err = s.gateway.Await(x.r.Context(), *x.caller, id, client.revision(), *wait)
	}
	if err != nil {
		return err
	}
	applied(x.Header(), wait)
	if client.holds(s.etag(&t)) {
		s.describeTask(x, &t)
		x.Header().Set("Cache-Control", "no-store")
		x.WriteHeader(http.StatusNotModified)
		return nil
	}
	s.respondTask(x, http.StatusOK, &t)
	return nil
}

func (s *Server) handleTaskCancel(x *exchange) error {
	t, err := s.gateway.Cancel(x.r.Context(), *x.caller, x.r.PathValue("task_id"))
	if err != nil {
		return err
	}
	s.respondTask(x, http.StatusOK, &t)
	return nil
}

func (s *Server) handleTaskInput(x *exchange) error {
	t, err := s.gateway.Get(x.r.Context(), *x.caller, x.r.PathValue("task_id"))
	if err != nil {
		return err
	}
	x.taskID = t.ID
	kept, err := s.gateway.Recall(x.r.Context(), *x.caller, t)
	if err != nil {
		return err
	}
	s.respond(x, http.StatusOK, api.TaskInput{
		TaskID: t.ID, Capability: kept.Capability, Input: kept.Input, Parameters: kept.Parameters, KeptUntil: api.Timestamp{Time: kept.Until},
		RequestID: x.id,
	})
	return nil
}

func (s *Server) handleTaskTimeline(x *exchange) error {
	t, err := s.gateway.Get(x.r.Context(), *x.caller, x.r.PathValue("task_id"))
	if err != nil {
		return err
	}
	x.taskID = t.ID
	timeline := api.TimelineOf(t)
	timeline.RequestID = x.id
	s.respond(x, http.StatusOK, timeline)
	return nil
}

// respondTask writes a task with its headers.
func (s *Server) respondTask(x *exchange, status int, t *task.Task) {
	s.describeTask(x, t)
	s.show(x, *t)
	body := s.taskOf(*t)
	body.RequestID = x.id
	w := writers.Get().(*jsonwrite.Writer)
	defer writers.Put(w)
	w.Reset()
	body.Write(w)
	s.send(x, status, w)
}

// describeTask sets the headers that a task has on a 200, 202 and 304 alike.
func (s *Server) describeTask(x *exchange, t *task.Task) {
	x.taskID = t.ID
	x.set("Etag", s.etag(t))
	if !t.State.Terminal() {
		x.Header().Set("Retry-After", strconv.Itoa(api.Seconds(pollAfter(s.now().Sub(t.CreatedAt)))))
	}
}

// taskOf returns a task as its owner may read it, with fresh artifact URLs.
func (s *Server) taskOf(t task.Task) api.Task {
	return api.FromTask(t, s.link)
}

// link returns a fresh address of a result file.
func (s *Server) link(a task.Artifact) string {
	return s.base.String() + api.PathArtifacts + a.ID + "?" + s.signer.Query(a, s.now())
}

// pollAfter advises the next query: soon for a young task, less often for one that takes long.
func pollAfter(age time.Duration) time.Duration {
	switch {
	case age < 15*time.Second:
		return api.MinPoll
	case age < time.Minute:
		return (api.MinPoll + api.MaxPoll) / 2
	default:
		return api.MaxPoll
	}
}
