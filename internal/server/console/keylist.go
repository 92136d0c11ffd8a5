package console

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// keyQuery selects the keys of a list.
type keyQuery struct {
	Mode   task.Mode
	Status string // one of keyStatuses, or openKeys
	Name   string // a part of the name, or the end of the secret, or the id
	Per    int    // keys of a page
	Page   int    // from 1
}

// openKeys stands for both statuses of keys that open something.
const openKeys = "open"

// keyParameters are those of the list.
var keyParameters = []string{"account", "mode", "status", "name", "per", "page"}

func parseKeyQuery(v url.Values) (q keyQuery, err error) {
	q = keyQuery{Mode: task.Mode(v.Get("mode")), Status: v.Get("status"), Name: strings.TrimSpace(v.Get("name")), Page: 1}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(keyParameters, name) {
			return q, fault.Invalid(name, "is not a filter of keys")
		}
	}
	if text := v.Get("page"); text != "" {
		if q.Page, err = strconv.Atoi(text); err != nil || q.Page < 1 {
			return q, fault.Invalid("page", "must be a number from 1")
		}
	}
	switch {
	case q.Mode != "" && q.Mode != task.Live && q.Mode != task.Test && q.Mode != account.Operator:
		return q, fault.Invalid("mode", "must be live, test or operator")
	case q.Status != "" && q.Status != openKeys && !slices.Contains(keyStatuses, q.Status):
		return q, fault.Invalid("status", "must be open, active, expiring, expired or revoked")
	}
	q.Per, err = perPage(v.Get("per"))
	return q, err
}

// perPage reads how many rows a page of a list has.
func perPage(text string) (int, error) {
	switch text {
	case "", strconv.Itoa(smallPage):
		return smallPage, nil
	case strconv.Itoa(largePage):
		return largePage, nil
	default:
		return 0, fault.Invalid("per", "must be "+strconv.Itoa(smallPage)+" or "+strconv.Itoa(largePage))
	}
}

// Filtered reports whether the list leaves keys out.
func (q keyQuery) Filtered() bool { return q.Mode != "" || q.Status != "" || q.Name != "" }

// fits reports whether the list has the key.
func (q keyQuery) fits(k keyRow) bool {
	return (q.Mode == "" || q.Mode == k.Mode) &&
		(q.Status == "" || q.Status == k.Status || q.Status == openKeys && k.Open()) &&
		(q.Name == "" || strings.Contains(strings.ToLower(k.Name), strings.ToLower(q.Name)) || k.ID == q.Name || k.Hint == q.Name)
}

// keyList is the data of the page of keys.
type keyList struct {
	Query       keyQuery
	Accounts    accountChoice
	Keys        []keyRow // of the page: the newest first, closed ones last
	First, Last int64    // their places in the list, from 1
	Count       int64    // of the list
	Pers        []int
	Statuses    []string
	Modes       []task.Mode
}

// More reports whether there is a next page.
func (l keyList) More() bool { return l.Last < l.Count }

// Page returns the query of a page of the same list.
func (l keyList) Page(n int) string {
	v := url.Values{}
	for name, value := range map[string]string{
		"mode": string(l.Query.Mode), "status": l.Query.Status, "name": l.Query.Name,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if l.Accounts.Names != nil {
		v.Set("account", l.Accounts.Asked())
	}
	if l.Query.Per != smallPage {
		v.Set("per", strconv.Itoa(l.Query.Per))
	}
	if n > 1 {
		v.Set("page", strconv.Itoa(n))
	}
	return "?" + v.Encode()
}

func (c *Console) handleKeys(x exchange) error {
	q, err := parseKeyQuery(x.r.URL.Query())
	if err != nil {
		return err
	}
	owner, every, err := c.askedAccount(x, x.r.FormValue("account"))
	if err != nil {
		return err
	}
	list := keyList{Query: q, Pers: []int{smallPage, largePage}, Statuses: keyStatuses, Modes: []task.Mode{task.Live, task.Test}}
	if operates(x.visitor) {
		list.Modes = append(list.Modes, account.Operator)
	}
	if list.Accounts, err = c.accountChoice(x, owner, every); err != nil {
		return err
	}
	all, err := c.actions(x.visitor).ListKeys(x.r.Context())
	if err != nil {
		return err
	}
	list.fill(c.keysOf(x, all, owner, every))
	return c.show(x, page{Name: "keys", Section: "keys", Title: "Keys", Data: list})
}

// keysOf returns the rows of an account's keys, or of all, in the order of the list. all are those that the visitor may
// see.
func (c *Console) keysOf(x exchange, all []api.Key, owner api.Account, every bool) []keyRow {
	own := c.operator.Member(x.visitor).Account().Name
	rows := make([]keyRow, 0, len(all))
	for _, k := range slices.Backward(all) {
		if every || cmp.Or(k.Account, own) == owner.Name { // an operator key, which is no account's, is with the operator's own
			rows = append(rows, c.keyRow(k))
		}
	}
	slices.SortStableFunc(rows, func(a, b keyRow) int {
		switch {
		case a.Open() == b.Open():
			return 0
		case a.Open():
			return -1
		default:
			return 1
		}
	})
	return rows
}

// fill takes the rows that fit, and of these the page; beyond the end the last one.
func (l *keyList) fill(rows []keyRow) {
	rows = slices.DeleteFunc(rows, func(k keyRow) bool { return !l.Query.fits(k) })
	l.Query.Page = min(l.Query.Page, max(1, (len(rows)+l.Query.Per-1)/l.Query.Per))
	first := (l.Query.Page - 1) * l.Query.Per
	l.Keys = rows[first:min(first+l.Query.Per, len(rows))]
	l.Count, l.First, l.Last = int64(len(rows)), int64(first)+1, int64(first+len(l.Keys))
}
