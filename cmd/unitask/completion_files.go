package main

import (
	"path/filepath"
	"strings"

	"unitask/internal/arguments"
	"unitask/internal/save"

	"github.com/spf13/cobra"
)

// unfinishedFile takes apart a word that ends in the unfinished name of a file: @FILE, name=@FILE or name:=@FILE. head
// is the text before the name.
func unfinishedFile(word string) (head, name string, ok bool) {
	value := word
	if before, after, found := strings.Cut(word, "="); found && arguments.ValidName(strings.TrimSuffix(before, ":")) {
		value = after
	}
	name, ok = strings.CutPrefix(value, "@")
	if strings.HasPrefix(name, "@") { // a text that begins with @
		return "", "", false
	}
	return strings.TrimSuffix(word, name), name, ok
}

// completeFile completes the name of a file after head; folders end with a slash.
func completeFile(head, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	dir, base := filepath.Split(toComplete)
	var found []cobra.Completion
	files := 0
	for _, name := range save.NamesIn(dir, base) {
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
