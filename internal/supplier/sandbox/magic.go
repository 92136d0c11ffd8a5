package sandbox

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/fault"
)

// magic is the effects of one request's magic inputs.
type magic struct {
	fail      fault.Code    // of the submission
	failJob   fault.Code    // of the job, at its end
	slow      time.Duration // added to the work
	stuck     string        // "running" or "transferring"
	flaky     int           // how many first attempts fail
	unknown   bool          // the first attempt's outcome is unknown
	full      bool          // the cheap supplier has no room
	malformed bool          // a known name with a value that it doesn't take
}

// magicInput is one row of the table: its text, its effect, its parser.
type magicInput struct {
	name   string
	values string // the value after the colon; "" without one
	effect string
	set    func(m *magic, value string) bool // false: the value is wrong
}

// longestSlow bounds @slow.
const longestSlow = time.Hour

// magicInputs is the table; docs/sandbox.md shows it.
var magicInputs = []magicInput{
	{
		"fail", "CODE", "The submission is refused with CODE.",
		func(m *magic, v string) bool { m.fail = fault.Code(v); return slices.Contains(failCodes(), m.fail) },
	},
	{
		"failjob", "CODE", "The job is accepted, runs its time and then fails with CODE; a synchronous capability is refused with it.",
		func(m *magic, v string) bool {
			m.failJob = fault.Code(v)
			return slices.Contains(failCodes(), m.failJob)
		},
	},
	{
		"slow", "30s", "The work takes that much longer, up to 1h.",
		func(m *magic, v string) (ok bool) { m.slow, ok = slowness(v); return ok },
	},
	{
		"stuck", "running", "The work never ends: the task runs until its deadline or its cancellation.",
		func(m *magic, v string) bool { m.stuck = v; return v == stuckRunning || v == stuckTransferring },
	},
	{
		"stuck", "transferring", "The work ends, but its result file never arrives: the task stays in transferring until its deadline, or a minute after its cancellation (capabilities that answer with files).",
		nil, // read by the row above
	},
	{
		"flaky", "2", "The first 2 attempts of the task, on whatever route, fail with PROVIDER_UNAVAILABLE; the next works. 1 to 9.",
		func(m *magic, v string) bool {
			n, err := strconv.Atoi(v)
			m.flaky = n
			return err == nil && n >= 1 && n <= 9
		},
	},
	{
		"unknown", "", "The first attempt is received, but its answer is lost: PROVIDER_TIMEOUT with an unknown outcome. A second attempt works, and so does sending the first again under its key or looking it up, by the supplier's class.",
		func(m *magic, v string) bool { m.unknown = true; return v == "" },
	},
	{
		"class", "findable", "The work is done by a supplier whose submissions can be looked up, but aren't told apart by their key. It keeps its submissions for an hour.",
		func(_ *magic, v string) bool { return v == ClassFindable || v == ClassNeither }, // see wantedClass
	},
	{
		"class", "neither", "The work is done by a supplier without both abilities: a submission whose answer is lost stays of unknown outcome.",
		nil, // read by the row above
	},
	{
		"full", "", "The cheaper sandbox supplier has no room (CAPACITY_EXHAUSTED), so that the dearer one does the work.",
		func(m *magic, v string) bool { m.full = true; return v == "" },
	},
}

// The values of @stuck.
const (
	stuckRunning      = "running"
	stuckTransferring = "transferring"
)

// failCodes are the codes that a supplier can bring about.
func failCodes() []fault.Code {
	return []fault.Code{
		fault.ContentPolicyViolation, fault.CapacityExhausted, fault.ProviderTimeout,
		fault.ProviderUnavailable, fault.InvalidRequest, fault.Internal,
	}
}

// readMagic finds the magic inputs among the text's words. Words that no row names are plain text;
// of two that set the same thing the later counts.
func readMagic(text string) magic {
	var m magic
	for word := range strings.FieldsSeq(text) {
		if !strings.HasPrefix(word, "@") {
			continue
		}
		name, value, _ := strings.Cut(word[1:], ":")
		at := slices.IndexFunc(magicInputs, func(in magicInput) bool { return in.name == name })
		if at >= 0 && !magicInputs[at].set(&m, value) {
			return magic{malformed: true}
		}
	}
	return m
}

// wantedClass returns the class that a request asks for by its words. It reads the input as it stands,
// for a route is chosen before the request is read.
func wantedClass(input []byte) string {
	for _, class := range []string{ClassFindable, ClassNeither} {
		if bytes.Contains(input, []byte("@class:"+class)) {
			return class
		}
	}
	return ClassHonorsKey
}

// classOf returns the class of the supplier with the given model.
func classOf(model string) string {
	switch model {
	case Findable:
		return ClassFindable
	case Neither:
		return ClassNeither
	default:
		return ClassHonorsKey
	}
}

// slowness reads the value of @slow.
func slowness(v string) (time.Duration, bool) {
	d, err := time.ParseDuration(v)
	return d, err == nil && d >= 0 && d <= longestSlow
}

// attempt is the number of the attempt in a submit key, 1 without one.
func attempt(submitKey string) int {
	_, number, _ := strings.Cut(submitKey, "/")
	if n, err := strconv.Atoi(number); err == nil && n > 0 {
		return n
	}
	return 1
}
