package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// skill is one thing that the sandbox can do with an ask; answer is "" if it isn't meant.
type skill func(ask string) (answer string)

// reply answers an ask, by the first skill that takes it.
func reply(ask string, turns int) string {
	ask = strings.TrimSpace(ask)
	for _, s := range []skill{greet, calculate, rewrite, count} {
		if answer := s(ask); answer != "" {
			return answer
		}
	}
	return restate(ask, turns)
}

// greet answers a greeting.
func greet(ask string) string {
	plain := strings.TrimRight(strings.ToLower(ask), ".!? ")
	plain = strings.TrimPrefix(plain, "say ")
	if slices.Contains([]string{"hello", "hi", "hey", "hello there", "good morning", "hello world"}, plain) {
		return "Hello! This is the sandbox: it answers without a model, the same way each time."
	}
	return ""
}

// rewrite applies the first word of the prompt to the rest of it, which may stand on further lines, as from a pipe.
func rewrite(ask string) string {
	end := strings.IndexFunc(ask, unicode.IsSpace)
	if end < 0 {
		return ""
	}
	verb, rest := ask[:end], strings.TrimSpace(ask[end:])
	if rest == "" {
		return ""
	}
	switch strings.ToLower(strings.TrimRight(verb, ":")) {
	case "say", "repeat", "echo":
		return rest
	case "upper", "uppercase":
		return strings.ToUpper(rest)
	case "lower", "lowercase":
		return strings.ToLower(rest)
	case "reverse":
		runes := []rune(rest)
		slices.Reverse(runes)
		return string(runes)
	case "sort":
		words := strings.Fields(rest)
		slices.Sort(words)
		return strings.Join(words, " ")
	}
	return ""
}

// count answers how many words there are.
func count(ask string) string {
	lower := strings.ToLower(ask)
	for _, start := range []string{"count the words", "count words", "how many words"} {
		if strings.HasPrefix(lower, start) {
			_, rest, ok := strings.Cut(ask, ":")
			if !ok {
				rest = ask
			}
			return fmt.Sprintf("%d words, %d characters.", len(strings.Fields(rest)), utf8.RuneCountInString(strings.TrimSpace(rest)))
		}
	}
	return ""
}

// quoted is how much of an ask is repeated, in runes.
const quoted = 200

// restate answers any prompt by a remark about it.
func restate(ask string, turns int) string {
	short := ask
	if end := endOf(ask, quoted); end < len(ask) {
		short = ask[:end] + "…"
	}
	words := 0
	for range strings.FieldsSeq(ask) {
		words++
	}
	answer := fmt.Sprintf("This is the sandbox, which answers without a model. You asked: %q. That is %s and %s",
		short, counted(words, "word"), counted(utf8.RuneCountInString(ask), "character"))
	if turns > 1 {
		answer += ", after " + counted(turns-1, "earlier message")
	}
	if about := topics(ask); len(about) > 0 {
		answer += ". It seems to be about " + strings.Join(about, ", ")
	}
	return answer + "."
}

// endOf returns the end of the text's first n runes.
func endOf(text string, n int) int {
	for at := range text {
		if n == 0 {
			return at
		}
		n--
	}
	return len(text)
}

// topics returns the ask's three longest words, in its order.
func topics(ask string) []string {
	type topic struct {
		word string
		at   int // among the words
	}
	var longest []topic
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	at := 0
	for w := range strings.FieldsFuncSeq(strings.ToLower(ask), notLetter) {
		at++
		if utf8.RuneCountInString(w) < 5 || slices.ContainsFunc(longest, func(one topic) bool { return one.word == w }) {
			continue
		}
		longest = append(longest, topic{w, at})
		slices.SortFunc(longest, func(a, b topic) int { return cmp.Or(len(b.word)-len(a.word), strings.Compare(a.word, b.word)) })
		longest = longest[:min(3, len(longest))]
	}
	slices.SortFunc(longest, func(a, b topic) int { return a.at - b.at })
	var words []string
	for _, one := range longest {
		words = append(words, one.word)
	}
	return words
}

// counted shows how many there are, in the singular or the plural.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
