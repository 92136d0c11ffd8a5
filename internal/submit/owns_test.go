package submit_test

import (
	"errors"
	"net/http"
	"testing"

	"unitask/internal/client"
	"unitask/internal/journal"
	"unitask/internal/submit"
)

// TestOwns: an entry of another service comes with the flags that reach it: its profile only while that has its name and
// address.
func TestOwns(t *testing.T) {
	t.Setenv("UNITASK_CONFIG_DIR", t.TempDir())
	if err := client.SaveProfile(client.ConfigDir(), "work", client.Profile{BaseURL: "http://a.test"}); err != nil {
		t.Fatal(err)
	}
	service := newService(t, journal.Open(t.TempDir()), http.NotFound)
	for _, tt := range []struct {
		entry journal.Submission
		want  string
	}{
		{journal.Submission{BaseURL: "http://a.test", Profile: "work"}, " --profile work"},
		{journal.Submission{BaseURL: "http://b.test", Profile: "work"}, " --base-url http://b.test"},
		{journal.Submission{BaseURL: "http://a.test", Profile: "renamed"}, " --base-url http://a.test"},
		{journal.Submission{BaseURL: "http://a.test", DataDir: "/a b"}, ` --data-dir "/a b"`},
		{journal.Submission{BaseURL: "http://a.test"}, " --base-url http://a.test"},
	} {
		err := service.Owns(t.Context(), &journal.Entry{Submission: tt.entry})
		if other, ok := errors.AsType[*submit.OtherServiceError](err); !ok || other.Flags != tt.want {
			t.Errorf("%+v: %v, want the flags %q", tt.entry, err, tt.want)
		}
	}
}
