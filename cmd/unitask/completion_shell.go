package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Bash ends a word at :, = and, unless bash-completion prevents it, at @. The library's script puts words together
// again at the first two, and removes from its answers the part before one of them; values such as name:=@FILE have
// several.
const (
	bashWords     = "_init_completion -n =: ||"
	bashWordsHere = "_init_completion -n =:@ ||"
	bashAnswers   = `    __unitask_handle_special_char "$cur" :
    __unitask_handle_special_char "$cur" =
`
	bashAnswersHere = `    # Bash replaces what comes after the last of these characters.
    local char head=""
    for char in : = @; do
        if [[ "$cur" == *${char}* && "$COMP_WORDBREAKS" == *${char}* ]]; then
            local upto=${cur%"${cur##*${char}}"}
            if ((${#upto} > ${#head})); then head=$upto; fi
        fi
    done
    local idx=${#COMPREPLY[*]}
    while ((--idx >= 0)); do
        COMPREPLY[idx]=${COMPREPLY[idx]#"$head"}
    done
`
)

// bashCompletion writes the library's script for bash, which it makes fit for values that begin with @.
func bashCompletion(root *cobra.Command, w io.Writer, descriptions bool) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, descriptions); err != nil {
		return err
	}
	text := script.String()
	if strings.Count(text, bashWords) != 2 || strings.Count(text, bashAnswers) != 1 {
		return fmt.Errorf("the library's completion script for bash isn't the one that is known here")
	}
	text = strings.ReplaceAll(text, bashWords, bashWordsHere)
	_, err := io.WriteString(w, strings.ReplaceAll(text, bashAnswers, bashAnswersHere))
	return err
}

// describeForShell takes from the flags' descriptions the backquotes that name their values in a help. It is for
// a process that answers a shell and prints no help.
func describeForShell(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	for _, child := range cmd.Commands() {
		describeForShell(child)
	}
}

// brief is a description for a shell: the first sentence, without its full stop.
func brief(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "")), " ")
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".")
}
