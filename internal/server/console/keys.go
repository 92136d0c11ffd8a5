package console

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/snippet"
)

// expiresSoon is how long before its end a key is pointed out.
const expiresSoon = 7 * 24 * time.Hour

// keyStatuses are how a key stands; the first two are open.
var keyStatuses = []string{"active", "expiring", "expired", "revoked"}

// keyRow is a key as its pages show it.
type keyRow struct {
	operator.Key
	Status string // one of keyStatuses
}

// Open reports whether the key still opens anything.
func (k keyRow) Open() bool { return k.Status == "active" || k.Status == "expiring" }

func (c *Console) keyRow(k operator.Key) keyRow {
	left := time.Duration(1<<63 - 1)
	if k.ExpiresAt != nil {
		left = k.ExpiresAt.Sub(c.now())
	}
	switch {
	case k.RevokedAt != nil:
		return keyRow{k, "revoked"}
	case left <= 0:
		return keyRow{k, "expired"}
	case left < expiresSoon:
		return keyRow{k, "expiring"}
	default:
		return keyRow{k, "active"}
	}
}

func (c *Console) handleKey(x exchange) error {
	k, err := c.findKey(x)
	if err != nil {
		return err
	}
	v := limitsForm(k.Limits)
	v.Set("name", k.Name)
	v.Set("scopes", strings.Join(k.Scopes, " "))
	return c.keyPage(x, http.StatusOK, filledForm{Values: v, About: c.keyRow(k)})
}

// restOfLife returns the chosen rest of a key's life, in seconds: one that a new key may have, or no end.
func restOfLife(choice string) (*int64, error) {
	if choice == "never" {
		choice = ""
	}
	life, ok := lifetimes[choice]
	if !ok {
		return nil, fault.Invalid("expires_in_seconds", "must be one of those offered")
	}
	return &life, nil
}

func (c *Console) keyPage(x exchange, status int, f filledForm) (err error) {
	if err = c.ofAccount(x, &f, f.About.(keyRow).Account); err != nil {
		return err
	}
	return c.showWith(x, status, page{Name: "key", Section: "keys", Title: f.About.(keyRow).Name, Data: f})
}

func (c *Console) handleKeyUpdate(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	k, err := c.findKey(x)
	if err != nil {
		return err
	}
	owner, err := c.chosen(x, k.Account)
	if err != nil {
		return err
	}
	f := filledForm{Values: x.r.PostForm, About: c.keyRow(k)}
	scopes := patterns(cmp.Or(strings.TrimSpace(f.Get("scopes")), "*"))
	limits, err := limitsFrom(f.Values)
	if err == nil {
		err = c.signedInFor(x, owner.ID)
	}
	update := api.KeyUpdate{Name: new(f.Get("name")), Scopes: &scopes, Limits: replaced(limits)}
	if err == nil && f.Get("expires") != "" {
		update.ExpiresInSeconds, err = restOfLife(f.Get("expires"))
	}
	if err == nil {
		err = checkScopes(scopes, k.Scopes, c.openOn(owner))
	}
	if err == nil {
		_, err = c.actions(x.visitor).UpdateKey(x.r.Context(), k.ID, update)
	}
	if fault.CodeOf(err) == fault.InvalidRequest {
		f.Problem = fault.From(err)
		return c.keyPage(x, http.StatusBadRequest, f)
	}
	if err != nil {
		return err
	}
	c.log.InfoContext(x.r.Context(), "key updated", "key_id", k.ID, "by", x.visitor.Account.ID)
	c.goTo(x, x.r, "/keys/"+k.ID+"?done=saved")
	return nil
}

// findKey returns the key that the address names, if the visitor may see it.
func (c *Console) findKey(x exchange) (operator.Key, error) {
	all, err := c.actions(x.visitor).Keys(x.r.Context())
	if err != nil {
		return operator.Key{}, err
	}
	i := slices.IndexFunc(all, func(k operator.Key) bool { return k.ID == x.r.PathValue("key_id") })
	if i < 0 {
		return operator.Key{}, fault.New(fault.NotFound, "there is no such key")
	}
	found := all[i : i+1]
	return found[0], c.operator.AddSpending(x.r.Context(), found)
}

// overlaps are how long a key goes on beside the one that replaces it, in seconds.
var overlaps = map[string]int64{"": 0, "hour": 3600, "day": 24 * 3600, "week": 7 * 24 * 3600}

func (c *Console) handleKeyRotate(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	overlap, ok := overlaps[x.r.PostForm.Get("overlap")]
	if !ok {
		return fault.Invalid("overlap", "must be one of those offered")
	}
	old, err := c.findKey(x)
	if err != nil {
		return err
	}
	owner, err := c.chosen(x, old.Account)
	if err == nil {
		err = c.signedInFor(x, owner.ID)
	}
	if err != nil {
		return err
	}
	goesOn := "at once"
	if overlap > 0 {
		goesOn = "in one " + x.r.PostForm.Get("overlap")
	}
	if !c.asked(x, "keys", question{
		Title: "Rotate " + old.Name + "?", Button: "Rotate the key", Back: "/keys/" + old.ID,
		Text: "Another secret is made and shown once. Whoever uses the one that ends in …" + old.Hint + " is refused " + goesOn + ", for good.",
	}) {
		return nil
	}
	k, err := c.actions(x.visitor).RotateKey(x.r.Context(), x.r.PathValue("key_id"), api.KeyRotate{OverlapSeconds: overlap})
	if err != nil {
		return err
	}
	c.log.InfoContext(x.r.Context(), "key rotated", "key_id", k.ID, "by", x.visitor.Account.ID)
	return c.showSecret(x, k)
}

// madeKey is the data of the page that shows a key.
type madeKey struct {
	api.Key
	Service string // its address, as a word of a command
}

// showSecret leads to the one answer that holds a key.
func (c *Console) showSecret(x exchange, k api.Key) error {
	made := madeKey{k, snippet.Word(c.base.String())}
	return c.showOnce(x, page{Name: "key-made", Section: "keys", Title: "Keep the key", Data: made})
}

func (c *Console) handleKeyRevoke(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	if x.r.PostForm.Get("sure") == "" {
		return fault.Invalid("sure", "must be ticked: revoking can't be undone")
	}
	k, err := c.actions(x.visitor).RevokeKey(x.r.Context(), x.r.PathValue("key_id"))
	if err != nil {
		return err
	}
	c.log.InfoContext(x.r.Context(), "key revoked", "key_id", k.ID, "by", x.visitor.Account.ID)
	c.goTo(x, x.r, "/keys/"+k.ID+"?done=revoked")
	return nil
}
