// Package jsonwritetest compares hand-written encoders with encoding/json.
package jsonwritetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"unitask/internal/jsonwrite"
)

// Same checks that write and encoding/json write random values, each member set or not, as the same JSON.
// A new member that write leaves out fails the test.
func Same[T any](t *testing.T, write func(*T, *jsonwrite.Writer)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		var in T
		populate(t, reflect.ValueOf(&in).Elem(), "value")
		var w jsonwrite.Writer
		write(&in, &w)
		got, err := w.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(generic(t, want), generic(t, got)); diff != "" {
			t.Errorf("%s\n(-want +got):\n%s", got, diff)
		}
	})
}

func generic(t *rapid.T, raw []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// populate sets each member to a random value or leaves it empty, so that a new member is tried too.
func populate(t *rapid.T, v reflect.Value, name string) {
	switch v.Type() {
	case reflect.TypeFor[json.Number]():
		if rapid.Bool().Draw(t, name) {
			v.SetString("1.25")
		}
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 4e9).Draw(t, name), rapid.Int64Range(0, 999_999_999).Draw(t, name)).UTC()))
		return
	case reflect.TypeFor[json.RawMessage]():
		if rapid.Bool().Draw(t, name) {
			v.SetBytes(fmt.Appendf(nil, `{"id":%d}`, rapid.Int().Draw(t, name)))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.Just(""), rapid.String(), rapid.SampledFrom([]string{"\xff", "<&>\u2028", "\x00\"\\\n"})).Draw(t, name))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(-3, 1<<40).Draw(t, name))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, name)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(rapid.Float64Range(-1, 1e6).Draw(t, name))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, name) {
			v.Set(reflect.New(v.Type().Elem()))
			populate(t, v.Elem(), name)
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 2).Draw(t, name); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				populate(t, v.Index(i), name)
			}
		}
	case reflect.Map:
		populateMap(t, v, name)
	case reflect.Array:
		for i := range v.Len() {
			populate(t, v.Index(i), name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			populate(t, v.Field(i), v.Type().Field(i).Name)
		}
	default:
		t.Fatalf("%s: a %s isn't populated yet", name, v.Kind())
	}
}

// populateMap adds up to two members whose names are valid UTF-8: of others two may be written as one.
func populateMap(t *rapid.T, v reflect.Value, name string) {
	for range rapid.IntRange(0, 2).Draw(t, name) {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.SetString(rapid.StringMatching(`[a-z."\\ü-]*`).Draw(t, name))
		populate(t, value, name)
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(key, value)
	}
}
