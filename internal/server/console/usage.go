package console

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/task"
)

// spans are how many days can be looked at.
var spans = []int{7, 30, 90}

// usageView is the data of the page of usage.
type usageView struct {
	Days     int
	Spans    []int
	Mode     task.Mode
	Accounts accountChoice
	Total    api.UsageRow
	Tasks    chart // ended tasks by day
	Spend    chart // cost by day, and of all accounts by account
	By       []usageTable
}

// rarer is the units that few capabilities are priced by, those that occurred.
type rarer struct {
	Title  string // of the first one
	Count  int64
	Beside string // the others, in words
}

// Rarer returns nil if there was no such unit.
func (v usageView) Rarer() *rarer {
	var of *rarer
	var beside []string
	for _, u := range []struct {
		n                int64
		title, one, many string
	}{
		{v.Total.Pages, "Pages", "page", "pages"},
		{v.Total.Searches, "Searches", "search", "searches"},
		{v.Total.Requests, "Requests priced as such", "request priced as such", "requests priced as such"},
	} {
		switch {
		case u.n == 0:
		case of == nil:
			of = &rarer{Title: u.title, Count: u.n}
		case u.n == 1:
			beside = append(beside, "1 "+u.one)
		default:
			beside = append(beside, count(u.n)+" "+u.many)
		}
	}
	if of != nil {
		of.Beside = strings.Join(beside, ", ")
	}
	return of
}

func ended(r api.UsageRow) int64 { return r.Succeeded + r.Failed + r.Canceled }

func (c *Console) handleUsage(x exchange) error {
	v, owner, err := c.askedUsage(x)
	if err != nil {
		return err
	}
	if v.Accounts, err = c.accountChoice(x, owner, v.Accounts.Every); err != nil {
		return err
	}
	if err := c.addUsage(x, &v, owner); err != nil {
		return err
	}
	return c.show(x, page{Name: "usage", Section: "usage", Title: "Usage", Data: v})
}

// askedUsage reads the days, the mode and the account that are asked for; the account is empty for all.
func (c *Console) askedUsage(x exchange) (v usageView, owner api.Account, err error) {
	v = usageView{Days: 30, Spans: spans, Mode: task.Mode(x.r.FormValue("mode"))}
	switch v.Mode {
	case "", task.Live, task.Test:
	default:
		return v, owner, fault.Invalid("mode", "must be live or test")
	}
	if text := x.r.FormValue("days"); text != "" {
		if v.Days, err = strconv.Atoi(text); err != nil || v.Days < 1 || v.Days > spans[len(spans)-1] {
			return v, owner, fault.Invalid("days", "must be a number from 1 to "+strconv.Itoa(spans[len(spans)-1]))
		}
	}
	owner, v.Accounts.Every, err = c.askedAccount(x, x.r.FormValue("account"))
	v.Accounts.Chosen = owner.Name
	return v, owner, err
}

// Export returns the query of the usage's export.
func (v usageView) Export(format string) string { return v.query(v.Accounts.Asked(), format) }

// Of returns the query of the page about one account.
func (v usageView) Of(account string) string { return v.query(account, "") }

func (v usageView) query(account, format string) string {
	q := url.Values{"days": {strconv.Itoa(v.Days)}, "account": {account}}
	if format != "" {
		q.Set("format", format)
	}
	if v.Mode != "" {
		q.Set("mode", string(v.Mode))
	}
	return "?" + q.Encode()
}

// lastDays selects the usage of an account, or of all, on the last days.
func (c *Console) lastDays(owner api.Account, days int) operator.SumsQuery {
	today := account.DateOf(c.now())
	return operator.SumsQuery{Account: owner.ID, First: today - account.Date(days) + 1, Last: today}
}

func total(rows []api.UsageRow) api.UsageRow {
	t := api.UsageRow{Cost: "0"}
	for _, r := range rows {
		t = sum(t, r)
	}
	return t
}

func sum(a, b api.UsageRow) api.UsageRow {
	a.Succeeded += b.Succeeded
	a.Failed += b.Failed
	a.Canceled += b.Canceled
	a.Work = a.Add(b.Work)
	a.Milliseconds += b.Milliseconds
	a.Cost = amount(a.Cost).Add(amount(b.Cost)).String()
	return a
}

// amount reads a cost as this service writes it.
func amount(cost string) task.Money {
	m, err := task.ParseMoney(cost)
	if err != nil {
		panic("console: a cost that is no amount: " + err.Error())
	}
	return m
}

// shortDay writes a day of usage for the end of an axis.
func shortDay(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.Format("2 Jan")
}
