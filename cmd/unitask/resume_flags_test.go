package main

import (
	"testing"

	"unitask/internal/client"
	"unitask/internal/journal"
)

// TestFlagsTo: an entry's service is reached by its profile only while that has its name and address.
func TestFlagsTo(t *testing.T) {
	t.Setenv("UNITASK_CONFIG_DIR", t.TempDir())
	if err := client.SaveProfile(client.ConfigDir(), "work", client.Profile{BaseURL: "http://a.test"}); err != nil {
		t.Fatal(err)
	}
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
		if got := flagsTo(&journal.Entry{Submission: tt.entry}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.entry, got, tt.want)
		}
	}
}
