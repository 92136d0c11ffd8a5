package api_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
)

// TestWork: every count of a usage is among the counts of work, their sum and their words.
func TestWork(t *testing.T) {
	var u task.Usage
	v := reflect.ValueOf(&u).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i + 2))
	}
	w := reflect.ValueOf(api.WorkOf(u))
	twice := reflect.ValueOf(api.WorkOf(u).Add(api.WorkOf(u)))
	if counts := api.WorkOf(u).Counts(); len(counts) != w.NumField() {
		t.Errorf("%d words for %d counts", len(counts), w.NumField())
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "Milliseconds" {
			continue
		}
		if got := w.FieldByName(name); !got.IsValid() || got.Int() != int64(i+2) || twice.FieldByName(name).Int() != 2*int64(i+2) {
			t.Errorf("%s is %v of %d", name, got, i+2)
		}
	}
}

func TestCounts(t *testing.T) {
	w := api.Work{InputTokens: 1, CachedInputTokens: 2, OutputTokens: -1, Images: 1, Searches: 2}
	want := []api.Count{{1, "input token"}, {2, "cached input tokens"}, {1, "image"}, {2, "searches"}}
	if diff := cmp.Diff(want, w.Counts()); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}
