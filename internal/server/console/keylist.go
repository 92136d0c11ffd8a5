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
	"unitask/internal/operator"
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
	Keys        []keyRow // of the page
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
	if l.Accounts.Any() {
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
	all, err := c.actions(x.visitor).Keys(x.r.Context())
	if err != nil {
		return err
	}
	found := list.cut(c.keysOf(x, q, all, owner, every))
	if err := c.operator.AddSpending(x.r.Context(), found); err != nil { // of the page alone
		return err
	}
	for _, k := range found {
		list.Keys = append(list.Keys, c.keyRow(k))
	}
	return c.show(x, page{Name: "keys", Section: "keys", Title: "Keys", Data: list})
}

// keysOf returns those keys of an account, or of all, that fit, in the order of the list: the newest first, closed ones
// last. all are those that the visitor may see.
func (c *Console) keysOf(x exchange, q keyQuery, all []operator.Key, owner api.Account, every bool) []operator.Key {
	own := c.operator.Member(x.visitor).Account().Name
	var open, closed []operator.Key
	for _, k := range slices.Backward(all) {
		row := c.keyRow(k)
		switch {
		case !every && cmp.Or(k.Account, own) != owner.Name: // an operator key, which is no account's, is with the operator's own
		case !q.fits(row):
		case row.Open():
			open = append(open, k)
		default:
			closed = append(closed, k)
		}
	}
	return slices.Concat(open, closed)
}

// cut returns the keys of the page, beyond the end those of the last one.
func (l *keyList) cut(keys []operator.Key) []operator.Key {
	l.Query.Page = min(l.Query.Page, max(1, (len(keys)+l.Query.Per-1)/l.Query.Per))
	first := (l.Query.Page - 1) * l.Query.Per
	page := keys[first:min(first+l.Query.Per, len(keys))]
	l.Count, l.First, l.Last = int64(len(keys)), int64(first)+1, int64(first+len(page))
	return page
}
