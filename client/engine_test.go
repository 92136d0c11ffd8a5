package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"testing"

	"unitask/internal/client/clienttest"

	"unitask/client"
	"unitask/internal/api"
	"unitask/internal/fault"
)

const testKey = "svc_test_0123456789"

// over returns a client whose requests a transport answers.
func over(t *testing.T, transport http.RoundTripper, options ...client.Option) *client.Client {
	t.Helper()
	options = append(options, client.WithHTTPClient(&http.Client{Transport: transport}))
	return at(t, "http://service.test/base/", options...)
}

func overHandler(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	return over(t, clienttest.Serve(h))
}

func at(t *testing.T, baseURL string, options ...client.Option) *client.Client {
	t.Helper()
	made, err := client.New(baseURL, testKey, options...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// codeOf returns the code of an error, INTERNAL if it has none.
func codeOf(err error) fault.Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		return fault.Code(e.Code)
	}
	return fault.Internal
}

// output is any output of the API.
type output = api.Output

// follow hears a task's events to its end.
func follow(ctx context.Context, c *client.Client, id string, onChange func(api.Task)) (api.Task, error) {
	return heard(client.Watch(ctx, c, &client.Task[output]{ID: id}), onChange, nil)
}

// finish creates a task and hears its events to its end.
func finish(ctx context.Context, c *client.Client, onChange func(api.Task), onText func(string)) (api.Task, error) {
	return heard(client.Stream(ctx, c, request()), onChange, onText)
}

func request() client.Body[output] {
	return client.Body[output](`{"capability":"text.chat","input":{}}`)
}

// heard returns the last task of the events, which it tells.
func heard(events iter.Seq2[client.Event[output], error], onChange func(api.Task), onText func(string)) (last api.Task, err error) {
	for e, err := range events {
		switch {
		case errors.Is(err, client.ErrCanceled): // as its state says
			return last, nil
		case err != nil:
			return last, err
		case e.Task != nil:
			last = api.Task{} // members that are absent now are no longer of it
			if err := json.Unmarshal(e.Task.Raw(), &last); err != nil {
				return last, err
			}
			if onChange != nil {
				onChange(last)
			}
		case e.Delta != nil && onText != nil:
			onText(e.Delta.Text)
		}
	}
	return last, nil
}
