package sandbox_test

import "testing"

// TestQueries shows that a question lies closer to what answers it as a query than as a document.
func TestQueries(t *testing.T) {
	t.Parallel()
	embed := func(text, parameters string) []float32 {
		a := mustNew(t, "sandbox-a", instant)
		o, err := a.Submit(t.Context(), request("text.embed", `{"texts":["`+text+`"]}`, parameters))
		if err != nil {
			t.Fatal(err)
		}
		return ready(t, a, o).Embeddings[0]
	}
	closeness := func(v, w []float32) (sum float32) {
		for i := range v {
			sum += v[i] * w[i]
		}
		return sum
	}
	document := embed("Red foxes live in the woods.", `{"input_type":"document"}`)
	const question = "Where do red foxes live?"
	query, plain := embed(question, `{"input_type":"query"}`), embed(question, `{}`)
	if closeness(query, document) <= closeness(plain, document) {
		t.Errorf("closeness %g as a query, %g without", closeness(query, document), closeness(plain, document))
	}
	if got := embed("What is the how?", `{"input_type":"query"}`); closeness(got, got) != 1 {
		t.Errorf("a query of no content is %v", got)
	}
}
