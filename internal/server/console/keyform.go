package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/task"
)

// filledForm is a form with its input and its errors.
type filledForm struct {
	url.Values
	Accounts []string // to choose from
	Problem  *fault.Error
	About    any // the changed object
	Bounds   bounds
	Scopes   []string // that a key of the account may have
}

// bounds are the limits that bind a key beside its own.
type bounds struct {
	Account api.Limits
	Server  gate.Defaults
}

// ofAccount adds the limits and capabilities of the named account to a key's form.
func (c *Console) ofAccount(x exchange, f *filledForm, owner string) error {
	a, err := c.chosen(x, owner)
	if err != nil {
		return err
	}
	f.Bounds, f.Scopes = bounds{a.Limits, c.operator.Defaults()}, scopesOver(c.openOn(a))
	return nil
}

// Wrong returns all errors of a field, "" without one.
func (f filledForm) Wrong(field string) string {
	if f.Problem == nil {
		return ""
	}
	var all []string
	for _, d := range f.Problem.Details {
		if d.Field == field {
			all = append(all, sentence(d.Message))
		}
	}
	return strings.Join(all, " ")
}

func (c *Console) handleKeyForm(x exchange) error {
	return c.keyForm(x, http.StatusOK, filledForm{Values: url.Values{"account": {x.r.FormValue("account")}, "mode": {string(task.Test)}}})
}

func (c *Console) keyForm(x exchange, status int, f filledForm) error {
	var err error
	if f.Accounts, err = c.choices(x); err != nil {
		return err
	}
	if f.Get("account") == "" {
		f.Set("account", x.visitor.Account.Name)
	}
	if err = c.ofAccount(x, &f, f.Get("account")); err != nil {
		return err
	}
	return c.showWith(x, status, page{Name: "key-new", Section: "keys", Title: "New key", Data: f})
}

func (c *Console) handleKeyCreate(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	f := filledForm{Values: x.r.PostForm}
	req, err := keyFrom(f.Values)
	if err != nil {
		return c.again(x, f, err)
	}
	if req.Account == "" {
		req.Account = x.visitor.Account.Name
	}
	owner, err := c.chosen(x, req.Account)
	if err != nil {
		return err // the operator would make an account of an unknown name
	}
	if err := c.signedInFor(x, owner.ID); err != nil {
		return c.again(x, f, err)
	}
	if err := checkScopes(req.Scopes, nil, c.openOn(owner)); err != nil {
		return c.again(x, f, err)
	}
	k, err := c.actions(x.visitor).CreateKey(x.r.Context(), req)
	if err != nil {
		return c.again(x, f, err)
	}
	c.log.InfoContext(x.r.Context(), "key created", "key_id", k.ID, "mode", string(k.Mode), "by", x.visitor.Account.ID)
	return c.showSecret(x, k)
}

// again shows the form with its errors, if the form is at fault.
func (c *Console) again(x exchange, f filledForm, err error) error {
	if fault.CodeOf(err) != fault.InvalidRequest {
		return err
	}
	f.Problem = fault.From(err)
	return c.keyForm(x, http.StatusBadRequest, f)
}

// lifetimes are how long a new key may live, in seconds.
var lifetimes = map[string]int64{"": 0, "day": 24 * 3600, "week": 7 * 24 * 3600, "month": 30 * 24 * 3600, "quarter": 90 * 24 * 3600, "year": 365 * 24 * 3600}

func keyFrom(v url.Values) (api.KeyCreate, error) {
	life, ok := lifetimes[v.Get("expires")]
	if !ok {
		return api.KeyCreate{}, fault.Invalid("expires_in_seconds", "must be one of those offered")
	}
	limits, err := limitsFrom(v)
	return api.KeyCreate{
		Name: v.Get("name"), Account: v.Get("account"), Mode: task.Mode(v.Get("mode")), Scopes: patterns(v.Get("scopes")),
		ExpiresInSeconds: life, Limits: limits,
	}, err
}

func limitsFrom(v url.Values) (api.Limits, error) {
	l := api.Limits{Budget: strings.TrimSpace(v.Get("budget")), BudgetPeriod: v.Get("budget_period")}
	if l.SupplierSpend = strings.TrimSpace(v.Get("supplier_spend")); l.Budget == "" && (l.SupplierSpend == "" || l.SupplierSpend == "none") {
		l.BudgetPeriod = ""
	}
	for field, into := range map[string]*int{
		"creates_per_minute": &l.CreatesPerMinute, "reads_per_minute": &l.ReadsPerMinute, "open_tasks": &l.OpenTasks,
	} {
		text := strings.TrimSpace(v.Get(field))
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return l, fault.Invalid(field, "must be a whole number, and not negative")
		}
		*into = n
	}
	return l, nil
}

// limitsForm is limits as a form shows them.
func limitsForm(l api.Limits) url.Values {
	v := url.Values{"budget": {l.Budget}, "budget_period": {l.BudgetPeriod}, "supplier_spend": {l.SupplierSpend}}
	for field, n := range map[string]int{
		"creates_per_minute": l.CreatesPerMinute, "reads_per_minute": l.ReadsPerMinute, "open_tasks": l.OpenTasks,
	} {
		if n != 0 {
			v.Set(field, strconv.Itoa(n))
		}
	}
	return v
}

// replaced is the change that replaces all limits.
func replaced(l api.Limits) *api.LimitsUpdate {
	return &api.LimitsUpdate{
		CreatesPerMinute: &l.CreatesPerMinute, ReadsPerMinute: &l.ReadsPerMinute, OpenTasks: &l.OpenTasks,
		Budget: &l.Budget, BudgetPeriod: &l.BudgetPeriod,
	}
}

// replacedAll is replaced for the limits of an account.
func replacedAll(l api.Limits) *api.LimitsUpdate {
	u := replaced(l)
	u.SupplierSpend = &l.SupplierSpend
	return u
}

// patterns reads capability patterns apart by commas or white space; nil without one.
func patterns(text string) []string {
	return append([]string(nil), strings.Fields(strings.ReplaceAll(text, ",", " "))...)
}
