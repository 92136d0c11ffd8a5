package console

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gateway"
)

const (
	mostWords   = 100 // characters of a search by words
	wordsWindow = 100 // tasks whose requests a search has in hand
)

// wordsAsked checks a search by words: in the requests that the visitor's own account keeps.
func wordsAsked(x exchange, words string, owner api.Account) error {
	switch {
	case words == "":
		return nil
	case utf8.RuneCountInString(words) > mostWords:
		return fault.Invalid("words", "must be 100 characters at most")
	case owner.ID != x.visitor.Account.ID:
		return fault.Invalid("words", "of another account's requests are not an operator's to see: leave the filter empty")
	case x.visitor.Account.Keep() == 0:
		return fault.Invalid("words", "are found in requests that are kept, and your account keeps none: leave the filter empty")
	}
	return nil
}

// saying leaves the rows whose kept requests have the words, with their first ones. It reads no more of them once it has
// enough rows or the time is over: next is then the last one that it read.
func (c *Console) saying(x exchange, rows []taskRow, words, next string, enough int, until time.Time) (found []taskRow, on string, err error) {
	wanted := strings.Fields(strings.ToLower(words))
	read := 0
	for some := range slices.Chunk(rows, recallWorkers) {
		if read > 0 && (len(found) >= enough || time.Now().After(until)) {
			return found, rows[read-1].ID, nil
		}
		kept, err := c.recallAll(x, some)
		if err != nil {
			return nil, "", err
		}
		for i, k := range kept {
			if says(c.gateway.Texts(k), wanted) {
				some[i].Asked = excerpt(k.Input)
				found = append(found, some[i])
			}
		}
		read += len(some)
	}
	return found, next, nil
}

// recallAll reads the requests of some rows at once; one that isn't kept any more is empty.
func (c *Console) recallAll(x exchange, rows []taskRow) ([]gateway.Kept, error) {
	kept, errs := make([]gateway.Kept, len(rows)), make([]error, len(rows))
	var all sync.WaitGroup
	for i, row := range rows {
		all.Go(func() {
			kept[i], errs[i] = c.gateway.Recall(x.r.Context(), callerOf(x.visitor, row.own.Scope.Mode), *row.own)
			if fault.CodeOf(errs[i]) == fault.NotFound {
				errs[i] = nil
			}
		})
	}
	all.Wait()
	return kept, errors.Join(errs...)
}

// says reports whether the texts have all of the words, which are in small letters, each anywhere.
func says(texts, words []string) bool {
	wanted := slices.Clone(words)
	for _, text := range texts {
		text = strings.ToLower(text)
		wanted = slices.DeleteFunc(wanted, func(word string) bool { return strings.Contains(text, word) })
	}
	return len(wanted) == 0
}
