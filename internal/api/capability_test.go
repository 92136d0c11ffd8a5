package api_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/task"
)

// TestEveryRateIsPublic: the public price has each rate under the name that the task's record gives it, and no other.
func TestEveryRateIsPublic(t *testing.T) {
	var r task.Rates
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		v.Field(i).Set(reflect.ValueOf(new(task.Money(i))))
	}
	p := task.Price{Unit: task.PerMillionTokens, Input: task.USD, Output: 2 * task.USD, Rates: &r}
	raw, err := json.Marshal(api.FromCapability(catalog.Capability{}, p).Price)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"currency": "USD", "unit": "mtok", "input": "1", "output": "2"}
	rates, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var named map[string]task.Money
	if err := json.Unmarshal(rates, &named); err != nil {
		t.Fatal(err)
	}
	for name, m := range named {
		want[name] = m.String()
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("price %v, want %v", got, want)
	}
}
