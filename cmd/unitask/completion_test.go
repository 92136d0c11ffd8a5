package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"unitask/internal/catalog"
)

// TestCompletionDescriptions: a shell's description of a command, a flag, a capability or a field is one phrase
// without marks of a help.
func TestCompletionDescriptions(t *testing.T) {
	seen := 0
	check := func(of, text string) {
		seen++
		if strings.Contains(text, "`") || strings.HasSuffix(text, ".") || strings.Contains(text, "\n") {
			t.Errorf("%s: %q", of, text)
		}
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		check(cmd.CommandPath(), cmd.Short)
		cmd.Flags().VisitAll(func(f *pflag.Flag) { check(cmd.CommandPath()+" --"+f.Name, f.Usage) })
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	root := newRootCmd(&terminal{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	describeForShell(root)
	visit(root)
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range directory.All() {
		check(string(one.Name), brief(one.Title))
		fields, err := catalog.FieldsOf(one.InputSchema, one.ParametersSchema)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			check(string(one.Name)+" "+f.Name, brief(f.Description))
		}
	}
	if seen < 200 {
		t.Errorf("%d descriptions, want all of them", seen)
	}
}

// TestBashCompletion: bash, which replaces the part after the last :, = or @ of a word, gets that part alone.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal("bash is missing, and CI must run this test")
	case err != nil:
		t.Skip("there is no bash here")
	}
	var script bytes.Buffer
	if err := bashCompletion(newRootCmd(&terminal{out: &bytes.Buffer{}, err: &bytes.Buffer{}}), &script, true); err != nil {
		t.Fatal(err)
	}
	const asked = `
_init_completion() { [[ "$*" == "-n =:@" ]] || exit 3; words=(unitask run text.chat "$word"); cword=3; cur=$word; }
compopt() { :; }
unitask() { printf '%s\n:4\n' "$answer"; }
__start_unitask
printf '%s' "${COMPREPLY[*]}"`
	for _, tt := range []struct{ word, answer, want string }{
		{"image=@sh", "image=@shore.jpg", "shore.jpg"},
		{"@sh", "@shore.jpg", "shore.jpg"},
		{"messages:=@sh", "messages:=@shore.json", "shore.json"},
		{"format=p", "format=png", "png"},
		{"image=@me@home/sh", "image=@me@home/shore.jpg", "home/shore.jpg"},
		{"for", "format=", "format="},
	} {
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", script.String()+asked)
		cmd.Env = append(os.Environ(), "word="+tt.word, "answer="+tt.answer, "COMP_WORDBREAKS= \t\n\"'@><=;|&(:", "COMP_TYPE=9")
		got, err := cmd.Output()
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.word, got, err, tt.want)
		}
	}
}
