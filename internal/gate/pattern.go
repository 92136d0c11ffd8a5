package gate

import (
	"fmt"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/fault"
)

// CheckPatterns refuses patterns that match no capability of the directory, with the name that is probably meant: a
// slip would open nothing and tell of nothing. Those that are known are taken anyway. The form of a pattern is judged
// elsewhere, and a nil directory takes all.
func CheckPatterns(field string, patterns, known []string, directory *catalog.Catalog) error {
	if directory == nil {
		return nil
	}
	names := slices.Collect(directory.Names())
	var wrong []fault.Detail
	for _, p := range patterns {
		opens := func(name catalog.Name) bool { return account.Allows([]string{p}, string(name)) }
		if slices.Contains(known, p) || slices.ContainsFunc(names, opens) {
			continue
		}
		meant := "unitask capabilities lists those there are"
		if near := catalog.Nearest(p, append(withFamilies(names), known...)); near != "" {
			meant = "perhaps " + near + " is meant"
		}
		wrong = append(wrong, fault.Detail{Field: field, Message: fmt.Sprintf("hold %s, which matches no capability; %s", p, meant)})
	}
	if len(wrong) == 0 {
		return nil
	}
	return fault.Invalid(field, wrong[0].Message).WithDetails(wrong[1:]...)
}

// withFamilies returns the names, each family such as image.* before its own.
func withFamilies(names []catalog.Name) []string {
	var all []string
	for _, name := range names {
		text := string(name)
		if family := text[:strings.LastIndexByte(text, '.')+1] + "*"; !slices.Contains(all, family) {
			all = append(all, family)
		}
		all = append(all, text)
	}
	return all
}
