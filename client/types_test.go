package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"unitask/internal/client/clienttest"

	"github.com/google/go-cmp/cmp"

	"unitask/client"
	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/catalog/sample"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// TestTypes sends the example of each capability by its generated input, and has the method return an output that the
// catalog's schema takes: both types have every member, and no other.
func TestTypes(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range directory.All() {
		t.Run(string(c.Name), func(t *testing.T) {
			output := sampled(t, c.OutputSchema)
			var body []byte
			answered := func(r *http.Request) (*http.Response, error) {
				var b bytes.Buffer
				_, _ = b.ReadFrom(r.Body)
				body = b.Bytes()
				w := httptest.NewRecorder()
				_, _ = fmt.Fprintf(w, `{"id":"task_1","state":"succeeded","output":%s}`, output)
				return w.Result(), nil
			}
			service, err := client.New("http://service.test", "svc_test_x", client.WithHTTPClient(&http.Client{Transport: clienttest.RoundTripper(answered)}))
			if err != nil {
				t.Fatal(err)
			}
			method := reflect.ValueOf(service).MethodByName(exported(string(c.Name)))
			in := reflect.New(method.Type().In(1))
			fill(t, c.Example, in.Interface())
			got := method.Call([]reflect.Value{reflect.ValueOf(t.Context()), in.Elem()})
			if err, failed := got[1].Interface().(error); failed {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain(t, c.Example), plain(t, body)); diff != "" {
				t.Errorf("the example and the request (-want +got):\n%s", diff)
			}
			read := got[0].Elem().FieldByName("Output").Elem()
			raw, err := json.Marshal(read.Interface())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain(t, output), plain(t, raw)); diff != "" {
				t.Errorf("the output and the type's (-want +got):\n%s", diff)
			}
		})
	}
}

// sampled makes an output of a schema, with all of its members.
func sampled(t *testing.T, of json.RawMessage) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(of, &v); err != nil {
		t.Fatal(err)
	}
	made, err := sample.Value(v, sample.Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// fill reads an example into a generated input, and refuses members that it lacks.
func fill(t *testing.T, example []byte, in any) {
	t.Helper()
	var request struct{ Input, Parameters json.RawMessage }
	if err := json.Unmarshal(example, &request); err != nil {
		t.Fatal(err)
	}
	strictly(t, request.Input, in)
	if request.Parameters != nil {
		strictly(t, request.Parameters, reflect.ValueOf(in).Elem().FieldByName("Parameters").Addr().Interface())
	}
}

func strictly(t *testing.T, raw []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// plain reads JSON without nulls, and without members that are false or empty objects: an absent one says the same.
func plain(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return withoutNulls(v)
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			inner, object := member.(map[string]any)
			if member == nil || member == false || object && len(inner) == 0 {
				delete(v, name)
				continue
			}
			v[name] = withoutNulls(member)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	case string:
		return strings.Replace(v, ".000Z", "Z", 1)
	case float64:
		return fmt.Sprintf("%.5g", v) // a float32 has no more
	}
	return v
}

// TestSameWire compares the names of this package with those of the API: members, codes and states.
func TestSameWire(t *testing.T) {
	for name, pair := range map[string][2]any{
		"Task":       {client.Task[any]{}, api.Task{}},
		"Usage":      {client.Usage{}, api.Usage{}},
		"Artifact":   {client.Artifact{}, api.Artifact{}},
		"Delta":      {client.Delta{}, api.Delta{}},
		"CallDelta":  {client.CallDelta{}, api.CallPiece{}},
		"Detail":     {client.Detail{}, fault.Detail{}},
		"Capability": {client.Capability{}, api.Capability{}},
	} {
		if diff := cmp.Diff(members(reflect.TypeOf(pair[1])), members(reflect.TypeOf(pair[0]))); diff != "" {
			t.Errorf("members of %s (-API +client):\n%s", name, diff)
		}
	}
	for _, code := range fault.Codes() {
		var e client.Error
		raw, err := json.Marshal(api.ErrorOf(fault.New(code, "x").WithRetryAfter(3 * time.Second).WithDetails(fault.Detail{Field: "a", Message: "b"})))
		if err == nil {
			err = json.Unmarshal(raw, &e)
		}
		want := client.Error{Code: client.Code(code), Message: "x", Retryable: code.Retryable(), Details: []client.Detail{{Field: "a", Message: "b"}}}
		if code.Retryable() {
			want.RetryAfter = 3 * time.Second
		}
		if diff := cmp.Diff(want, e, cmp.AllowUnexported(client.Error{})); diff != "" || err != nil {
			t.Errorf("%v, error (-want +got):\n%s", err, diff)
		}
	}
	for _, s := range []task.State{task.Queued, task.Running, task.Transferring, task.Succeeded, task.Failed, task.Canceled} {
		if client.State(s).Terminal() != s.Terminal() {
			t.Errorf("%s is terminal on one side only", s)
		}
	}
}

// members returns the names of a struct's members in JSON.
func members(of reflect.Type) map[string]bool {
	all := map[string]bool{}
	for _, f := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			all[name] = true
		}
	}
	return all
}

// TestVector reads both encodings of an embedding.
func TestVector(t *testing.T) {
	for text, want := range map[string]client.Vector{`[1,-0.5]`: {1, -0.5}, `"AACAPwAAAL8="`: {1, -0.5}, `""`: {}, `"AA=="`: nil, `3`: nil} {
		var got client.Vector
		err := json.Unmarshal([]byte(text), &got)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

// TestEachCodeIsKnown: an answer with any of the service's codes is the service's, also without a request's id.
func TestEachCodeIsKnown(t *testing.T) {
	for _, code := range fault.Codes() {
		answered := func(*http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			w.WriteHeader(http.StatusTeapot)
			_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"message":"no"}}`, code)
			return w.Result(), nil
		}
		service, err := client.New("http://service.test", "x", client.WithHTTPClient(&http.Client{Transport: clienttest.RoundTripper(answered)}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = service.Do(context.Background(), client.Call{Path: "/"}, nil)
		if err == nil || err.Error() != string(code)+": no" {
			t.Errorf("%s: %v", code, err)
		}
	}
}
