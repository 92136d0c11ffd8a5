package server

import (
	"net/http"

	"unitask/internal/api"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/task"
)

// routeResponses adds the paths of a response that there is already. It is a task of the key's account, mode and scope,
// whichever way it was created, so that every node answers.
func (o *openAI) routeResponses() {
	const response = openai.PathResponses + "/{response_id}"
	for pattern, m := range map[string]methods{
		response:             {http.MethodGet: o.handleResponse},
		response + "/cancel": {http.MethodPost: plain(o.handleResponseCancel)},
	} {
		o.handle(pattern, o.limited(o.keyHolder, gate.Reads, m.dispatch))
	}
}

// handleResponseCreate is calling for requests that may refer to the items of earlier responses.
func (o *openAI) handleResponseCreate(x *exchange) error {
	return o.calling(openai.Responses(func(id string) (*task.Task, error) {
		t, err := o.gateway.Get(x.r.Context(), *x.caller, id)
		return &t, err
	}))(x)
}

func (o *openAI) handleResponse(x *exchange) error {
	streamed, err := openai.Retrieval(x.r.URL.RawQuery)
	if err != nil {
		return err
	}
	t, call, err := o.response(x)
	if err != nil {
		return err
	}
	if !streamed || x.r.Method != http.MethodGet {
		return o.respondResponse(x, &call, &t)
	}
	stream, err := o.gateway.Follow(x.r.Context(), *x.caller, t.ID, o.relay(x, api.PathTasks+"/"+t.ID))
	if err != nil {
		return err
	}
	o.stream(x, &doorCall{Call: &call}, stream)
	return nil
}

func (o *openAI) handleResponseCancel(x *exchange) error {
	t, call, err := o.response(x)
	if err == nil {
		t, err = o.gateway.Cancel(x.r.Context(), *x.caller, t.ID)
	}
	if err != nil {
		return err
	}
	return o.respondResponse(x, &call, &t)
}

// response returns the task that the path's response is.
func (o *openAI) response(x *exchange) (t task.Task, c openai.Call, err error) {
	id, ok := openai.TaskOf(x.r.PathValue("response_id"))
	if !ok {
		return t, c, openai.UnknownResponse()
	}
	if t, err = o.gateway.Get(x.r.Context(), *x.caller, id); err == nil {
		if c, ok = openai.Retrieved(&t, o.gateway.Directory()); !ok {
			return t, c, openai.UnknownResponse()
		}
	}
	if fault.CodeOf(err) == fault.NotFound {
		err = openai.UnknownResponse()
	}
	return t, c, err
}

func (o *openAI) respondResponse(x *exchange, c *openai.Call, t *task.Task) error {
	x.taskID = t.ID
	x.Header().Set(openai.HeaderTaskID, t.ID)
	o.show(x, *t)
	return o.write(x, c, t)
}
