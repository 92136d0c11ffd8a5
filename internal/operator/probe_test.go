package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/supplier/fal"
	"unitask/internal/supplier/openai"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// groq are the routes of one supplier.
func groq() []routing.State {
	return []routing.State{{Capability: "text.chat", Supplier: "groq", Model: "m", Mode: task.Live, Approved: true}}
}

// TestTestSupplier says of a supplier by whatever it answers to a free request, or to one without the key, what that means.
// No answer of the supplier and no key is in it.
func TestTestSupplier(t *testing.T) {
	const key, answer = "sk-the-service", "the supplier's own words"
	fixed := func() (string, error) { return key, nil }
	unset := func() (string, error) { return "", errors.New("the variable isn't set") }
	for name, tt := range map[string]struct {
		make   func(supplier.Config) (supplier.Adapter, error)
		status int // 0: no server is there
		key    supplier.KeyFunc
		want   api.SupplierTest
	}{
		"well":      {openai.New, 200, fixed, api.SupplierTest{Result: api.TestOK, About: "it answers, and doesn't refuse the service's key"}},
		"its key":   {openai.New, 401, fixed, api.SupplierTest{Result: api.TestRefused, About: "the supplier refuses the key (401)"}},
		"a payment": {openai.New, 402, fixed, api.SupplierTest{Result: api.TestRefused, About: "the supplier asks for a payment (402)"}},
		"no list":   {openai.New, 404, fixed, api.SupplierTest{Result: api.TestFailing, About: "it answers with status 404 to a request that should succeed"}},
		"busy":      {openai.New, 429, fixed, api.SupplierTest{Result: api.TestFailing, About: "it answers with status 429 to a request that should succeed"}},
		"away":      {openai.New, 0, fixed, api.SupplierTest{Result: api.TestUnreachable, About: "no answer came: dial tcp HOST: connect: connection refused"}},
		"no key":    {openai.New, 200, unset, api.SupplierTest{Result: api.TestUnsent, About: "no request was sent: key: the variable isn't set"}},
		"none configured": {openai.New, 200, nil, api.SupplierTest{
			Result: api.TestReachable, About: "it answers to a request without a key, so that a key wasn't tried",
		}},
		"a kind without a free request": {fal.New, 401, fixed, api.SupplierTest{
			Result: api.TestReachable, About: "it answers to a request without a key, so that a key wasn't tried",
		}},
		"such a kind, away": {fal.New, 0, fixed, api.SupplierTest{Result: api.TestUnreachable, About: "no answer came: dial tcp HOST: connect: connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent = append(sent, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(`{"error":{"message":"` + answer + ` ` + key + `"}}`))
			}))
			defer s.Close()
			if tt.status == 0 {
				s.Close()
			}
			a := fixture.Must(tt.make(supplier.Config{BaseURL: s.URL, APIKey: tt.key}))(t)
			o := newTestOperator(t)
			o.RoutesFunc = groq
			o.ReachFunc = func(ctx context.Context, _ string) (bool, time.Duration, error) {
				keyed, err := supplier.Reach(ctx, a)
				return keyed, 32 * time.Millisecond, err
			}
			got := fixture.Must(o.TestSupplier(t.Context(), "groq"))(t)
			tt.want.Supplier, tt.want.At, tt.want.Millis = "groq", api.Timestamp{Time: o.now()}, 32
			tt.want.About = strings.ReplaceAll(tt.want.About, "HOST", strings.TrimPrefix(s.URL, "http://"))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if text := string(fixture.Must(json.Marshal(got))(t)); strings.Contains(text, key) || strings.Contains(text, answer) {
				t.Error("it shows", text)
			}
			for _, request := range sent {
				if keyed := strings.HasSuffix(request, key); !strings.HasPrefix(request, "GET /") || keyed == (got.Result == api.TestReachable) {
					t.Error("it sent", request)
				}
			}
			if shown := fixture.Must(o.Suppliers(t.Context()))(t)[0].Test; !cmp.Equal(shown, &got) {
				t.Errorf("kept: %+v", shown)
			}
		})
	}
}

// TestTestSupplierBounds: a test ends after ten seconds, and is the only one of its supplier until then; who goes away
// leaves no result.
func TestTestSupplierBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTestOperator(t)
		o.RoutesFunc = groq
		_, err := o.TestSupplier(t.Context(), "groq")
		wantCode(t, "without a server", err, fault.InvalidRequest)
		o.ReachFunc = func(ctx context.Context, _ string) (bool, time.Duration, error) {
			<-ctx.Done()
			return true, 0, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "late", ctx.Err())
		}
		_, err = o.TestSupplier(t.Context(), "unknown")
		wantCode(t, "an unknown supplier", err, fault.NotFound)
		gone, leave := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); leave() }()
		if _, err := o.TestSupplier(gone, "groq"); !errors.Is(err, context.Canceled) || fixture.Must(o.Suppliers(t.Context()))(t)[0].Test != nil {
			t.Error("who went away:", err)
		}
		began, first := time.Now(), make(chan api.SupplierTest)
		go func() { first <- fixture.Must(o.TestSupplier(t.Context(), "groq"))(t) }()
		synctest.Wait()
		_, err = o.TestSupplier(t.Context(), "groq")
		wantCode(t, "a second test", err, fault.CapacityExhausted)
		if got, took := <-first, time.Since(began); got.Result != api.TestUnreachable || got.About != "no answer came in time" || took != 10*time.Second {
			t.Errorf("%+v after %v", got, took)
		}
	})
}

// TestTestSupplierForgets: a result tells of the settings with which its test began, and is forgotten when they are read
// anew.
func TestTestSupplierForgets(t *testing.T) {
	o := newTestOperator(t)
	o.RoutesFunc = groq
	during := func() {}
	o.ReachFunc = func(context.Context, string) (bool, time.Duration, error) { during(); return true, 0, nil }
	kept := func() *api.SupplierTest { return fixture.Must(o.Suppliers(t.Context()))(t)[0].Test }
	test := func() { fixture.Must(o.TestSupplier(t.Context(), "groq"))(t) }
	if test(); kept() == nil {
		t.Fatal("the result isn't kept")
	}
	if o.SetSuppliers(nil); kept() != nil {
		t.Error("kept over a reload")
	}
	during = func() { o.SetSuppliers(nil) }
	if test(); kept() != nil {
		t.Error("kept over a reload during the test")
	}
	during = func() {}
	if test(); kept() == nil {
		t.Error("the result after a reload isn't kept")
	}
}
