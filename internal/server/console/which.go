package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"unitask/internal/fault"
	"unitask/internal/operator"
)

// Of more accounts than mostChoices, one is asked for by a text; a page shows as many of those that fit at most as
// mostFound.
const (
	mostChoices = 200
	mostFound   = 50
)

// unclearAccount is the error for a text that is no account's name and no id.
type unclearAccount struct {
	error
	typed string
}

func (u unclearAccount) Unwrap() error { return u.error }

// which is the data of the page that finds an account.
type which struct {
	Typed    string
	Accounts accountChoice
	Found    []foundAccount
	Fit      int64       // that the text fits
	Kept     []keptField // the page's other choices
}

// Left is how many accounts fit and have no row.
func (w which) Left() int64 { return w.Fit - int64(len(w.Found)) }

type foundAccount struct {
	operator.AccountName
	Query string // of the page about it
}

type keptField struct{ Name, Value string }

// findsAccount answers a request about a text that is no account's name or id: with the page about the only account whose
// name has the text in it, or with those accounts to choose from.
func (c *Console) findsAccount(h handler) handler {
	return func(x exchange) error {
		err := h(x)
		if unclear, ok := errors.AsType[unclearAccount](err); ok {
			return c.whichAccount(x, unclear.typed)
		}
		return err
	}
}

func (c *Console) whichAccount(x exchange, typed string) error {
	all, err := c.operator.AccountNames(x.r.Context())
	if err != nil {
		return err
	}
	below, typed := strings.TrimPrefix(x.r.URL.Path, c.path("")), strings.TrimSpace(typed)
	query := x.r.URL.Query()
	for _, place := range []string{"page", "cursor", "newer"} { // of another list
		query.Del(place)
	}
	v := which{Typed: typed, Accounts: accountChoice{Typed: true, Chosen: typed}}
	for _, a := range all {
		if !strings.Contains(strings.ToLower(a.Name), strings.ToLower(typed)) {
			continue
		}
		if v.Fit++; v.Fit > mostFound {
			continue
		}
		query.Set("account", a.ID)
		v.Found = append(v.Found, foundAccount{a, "?" + query.Encode()})
	}
	if len(v.Found) == 1 {
		c.goTo(x, x.r, below+v.Found[0].Query)
		return nil
	}
	slices.SortFunc(v.Found, func(a, b foundAccount) int { return strings.Compare(a.Name, b.Name) })
	v.Kept = keptFields(query)
	status := http.StatusOK
	if len(v.Found) == 0 {
		status = http.StatusNotFound
	}
	return c.showWith(x, status, page{Name: "which", Section: strings.TrimPrefix(below, "/"), Title: "Which account?", Data: v})
}

// keptFields returns the fields of a query but for the account.
func keptFields(query url.Values) (kept []keptField) {
	for name, values := range query {
		for _, value := range values {
			if name != "account" {
				kept = append(kept, keptField{name, value})
			}
		}
	}
	slices.SortFunc(kept, func(a, b keptField) int { return strings.Compare(a.Name+a.Value, b.Name+b.Value) })
	return kept
}

// unclear tells an account that isn't there by a name or an id from other errors.
func unclear(err error, typed string) error {
	if fault.CodeOf(err) == fault.NotFound {
		return unclearAccount{err, typed}
	}
	return err
}
