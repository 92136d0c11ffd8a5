package config_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/config"
)

func TestChanged(t *testing.T) {
	old := config.Config{Listen: "a:1", Suppliers: []config.Supplier{{Name: "a"}}}
	now := config.Config{Listen: "a:2", Suppliers: []config.Supplier{{Name: "b"}}}
	now.Limits.Queue, now.Limits.Database = 5, 6
	live, restart := config.Changed(old, now)
	if diff := cmp.Diff([][]string{{"limits.queue", "suppliers"}, {"listen", "limits.database"}}, [][]string{live, restart}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	live, restart = config.Changed(old, config.Keep(old, now))
	if diff := cmp.Diff([][]string{{"limits.queue", "suppliers"}, nil}, [][]string{live, restart}); diff != "" {
		t.Errorf("of what was kept (-want +got):\n%s", diff)
	}
}

// TestKeepKeepsWhatTakesARestart changes every setting that is one value or a list of texts.
func TestKeepKeepsWhatTakesARestart(t *testing.T) {
	var old, now config.Config
	var all func(v reflect.Value)
	all = func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.Struct:
				all(f)
			case reflect.String:
				f.SetString("other")
			case reflect.Int, reflect.Int64:
				f.SetInt(7)
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Slice:
				f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			}
		}
	}
	all(reflect.ValueOf(&now).Elem())
	_, restart := config.Changed(old, now)
	live, left := config.Changed(old, config.Keep(old, now))
	if len(restart) != 27 || left != nil || !slices.Contains(live, "limits.workers") || strings.Contains(strings.Join(live, " "), "listen") {
		t.Errorf("live %v, restart %v, not kept %v", live, restart, left)
	}
}
