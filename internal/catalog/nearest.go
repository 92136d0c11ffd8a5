package catalog

import "strings"

// Nearest returns the candidate that was probably meant: one with name as its prefix, else the closest
// within a third of its letters, of equals one with the same first letter; "" if all are farther away.
func Nearest(name string, candidates []string) string {
	if name == "" {
		return ""
	}
	best, least := "", len(name)/3+2
	for _, c := range candidates {
		if len(name) > 2 && strings.HasPrefix(c, name) {
			return c
		}
		d := distance(strings.ToLower(name), strings.ToLower(c))
		if d < least || d == least && best != "" && best[0] != name[0] && c[0] == name[0] {
			best, least = c, d
		}
	}
	return best
}

// distance is Levenshtein's: the letters to add, drop or change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
