package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// begunFile takes apart a word that ends in the begun name of a file: @FILE, name=@FILE or name:=@FILE. head is the
// text before the name.
func begunFile(word string) (head, name string, ok bool) {
	value := word
	if before, after, found := strings.Cut(word, "="); found && validName(strings.TrimSuffix(before, ":")) {
		value = after
	}
	name, ok = strings.CutPrefix(value, "@")
	if strings.HasPrefix(name, "@") { // a text that begins with @
		return "", "", false
	}
	return strings.TrimSuffix(word, name), name, ok
}

// completeFile completes the name of a file after head; folders end with a slash.
func completeFile(head, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	dir, base := filepath.Split(begun)
	var found []cobra.Completion
	files := 0
	for _, name := range namesIn(dir, base) {
		if !strings.HasSuffix(name, "/") {
			files++
		}
		found = append(found, head+dir+name)
	}
	if len(found) > 0 && files == 0 { // a folder's name goes on
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// namesIn returns the names with a prefix in a folder, "" for this one; folders end with a slash. A hidden name is
// completed only after its dot.
func namesIn(dir, base string) []string {
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".")
		if hidden || !strings.HasPrefix(name, base) || strings.ContainsFunc(name, unicode.IsControl) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			name += "/"
		}
		found = append(found, name)
	}
	return found
}
