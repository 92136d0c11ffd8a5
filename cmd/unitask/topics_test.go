package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEnvironmentIsWhole: "unitask help environment" names each variable that the program's source does, and no other.
func TestEnvironmentIsWhole(t *testing.T) {
	others := map[string]string{
		"UNITASK_DATABASE":         "of an example for env:NAME, whose name anyone chooses",
		"UNITASK_TEST_CLOCK":       "of a build for tests",
		"UNITASK_TEST_CLOCK_NAIVE": "of a build for tests",
	}
	variable := regexp.MustCompile(`\bUNITASK_[A-Z][A-Z_]*\b`)
	read := map[string]string{}
	for _, dir := range []string{".", "../../internal", "../../client"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch name := d.Name(); {
			case err != nil:
				return err
			case d.IsDir() && (name == "testdata" || name == "sdk" || strings.HasSuffix(name, "test")):
				return fs.SkipDir
			case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || path == "topics.go":
				return nil
			}
			raw, err := os.ReadFile(path)
			for _, name := range variable.FindAllString(string(raw), -1) {
				read[name] = path
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	told := variable.FindAllString(topicEnvironment, -1)
	if len(read) < 20 {
		t.Errorf("%d variables were found in the source, want all of them", len(read))
	}
	for name, path := range read {
		if !slices.Contains(told, name) && others[name] == "" {
			t.Errorf("%s reads %s, which isn't in topicEnvironment", path, name)
		}
	}
	for _, name := range told {
		if read[name] == "" {
			t.Errorf("topicEnvironment has %s, which the source doesn't read", name)
		}
	}
}
