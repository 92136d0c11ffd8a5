package operator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// testTime bounds the test of a supplier.
const testTime = 10 * time.Second

// supplierTests are the tests of suppliers from this node since the suppliers were set, the last of each.
type supplierTests struct {
	mu      sync.Mutex
	running map[string]bool
	last    map[string]api.SupplierTest
	set     int // how often the suppliers were set
}

// forget drops the results, which tell of suppliers that were set before.
func (t *supplierTests) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = nil
	t.set++
}

// begin reports whether no other test of the supplier runs, and notes that one does. set is for its end.
func (t *supplierTests) begin(name string) (set int, free bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running == nil {
		t.running = map[string]bool{}
	}
	free = !t.running[name]
	t.running[name] = true
	return t.set, free
}

// end notes the result, unless the suppliers were set again since the test began; nil: it isn't there.
func (t *supplierTests) end(name string, set int, result *api.SupplierTest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, name)
	if result == nil || set != t.set {
		return
	}
	if t.last == nil {
		t.last = map[string]api.SupplierTest{}
	}
	t.last[name] = *result
}

// of returns the last result; nil without one.
func (t *supplierTests) of(name string) *api.SupplierTest {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, ok := t.last[name]; ok {
		return &last
	}
	return nil
}

// TestSupplier asks a supplier from this node, by a request that costs no money, whether it answers and takes the service's
// key: for ten seconds at most, and once at a time. It may be paused, and stands as before: the routes learn of its work
// alone, since a supplier may list its models and still fail at its work.
func (o *Operator) TestSupplier(ctx context.Context, name string) (api.SupplierTest, error) {
	if o.ReachFunc == nil {
		return api.SupplierTest{}, fault.New(fault.InvalidRequest, "suppliers are tested at a running server")
	}
	if _, err := o.supplier(ctx, name); err != nil {
		return api.SupplierTest{}, err
	}
	set, free := o.tests.begin(name)
	if !free {
		return api.SupplierTest{}, fault.New(fault.CapacityExhausted, "a test of this supplier is under way").WithRetryAfter(testTime)
	}
	var result *api.SupplierTest
	defer func() { o.tests.end(name, set, result) }()
	at := o.Now().UTC()
	within, stop := context.WithTimeout(ctx, testTime)
	defer stop()
	keyed, took, err := o.ReachFunc(within, name)
	if ctx.Err() != nil {
		return api.SupplierTest{}, ctx.Err()
	}
	result = &api.SupplierTest{Supplier: name, At: api.Timestamp{Time: at}, Millis: took.Milliseconds()}
	result.Result, result.About = verdictOf(keyed, err)
	return *result, nil
}

// verdictOf is the result of a test, and its meaning in words.
func verdictOf(keyed bool, err error) (result, about string) {
	e := supplier.AsError(err)
	switch {
	case err == nil && keyed:
		return api.TestOK, "it answers, and doesn't refuse the service's key"
	case err == nil:
		return api.TestReachable, "it answers to a request without a key, so that a key wasn't tried"
	case errors.Is(err, errors.ErrUnsupported):
		return api.TestUnsent, "its kind has no free request"
	case e.Refusal() != "":
		return api.TestRefused, e.Refusal()
	case e.Status > 0:
		return api.TestFailing, fmt.Sprintf("it answers with status %d to a request that should succeed", e.Status)
	case e.Operator:
		return api.TestUnsent, "no request was sent: " + causeOf(e)
	case e.Fault.Code == fault.ProviderTimeout:
		return api.TestUnreachable, "no answer came in time"
	default:
		return api.TestUnreachable, "no answer came: " + causeOf(e)
	}
}

// causeOf is an error's cause in words, in which adapters let no text of a supplier and no key.
func causeOf(e *supplier.Error) string {
	if e.Cause() == nil {
		return "the cause isn't known"
	}
	return e.Cause().Error()
}
