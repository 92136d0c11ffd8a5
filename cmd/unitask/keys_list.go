package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
)

type keysListOptions struct {
	remoteFlags
}

func newKeysListCmd(t *terminal) *cobra.Command {
	var o keysListOptions
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: tabled,
		Aliases:     []string{"ls"},
		Short:       "List keys, oldest first",
		Example: `  unitask keys list
  unitask keys list --data-dir /var/lib/unitask --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return keysListRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func keysListRun(ctx context.Context, t *terminal, o *keysListOptions) error {
	return listed(ctx, t, &o.remoteFlags, "no keys", func(op operatorAPI) ([]api.Key, error) { return op.ListKeys(ctx) },
		func(keys []api.Key) error { return listKeys(t, keys, time.Now()) })
}

func listKeys(t *terminal, keys []api.Key, now time.Time) error {
	b := table{
		header: []string{"ID", "NAME", "ACCOUNT", "MODE", "KEY", "SCOPES", "STATE", "LAST USED", "LIMITS", "SPENT"},
		spare:  []string{"ACCOUNT", "SCOPES", "LIMITS", "LAST USED", "SPENT", "KEY"}, // the last two tell keys apart
	}
	for _, k := range keys {
		b.row(same(k.ID), same(k.Name), same(cmp.Or(k.Account, "-")), same(string(k.Mode)),
			cell{human: "…" + k.Hint, plain: k.Hint}, same(scopesOf(k)), keyState(t, k, now), when(k.LastUsedAt, now), limitsCell(k.Limits), spentCell(t, k.Limits, k.Spending))
	}
	return b.write(t)
}

// limitsCell shows the limits of a key or an account: "60/min 5 open $5/day".
func limitsCell(l api.Limits) cell {
	var parts []string
	add := func(n int, unit string) {
		if n > 0 {
			parts = append(parts, strconv.Itoa(n)+unit)
		}
	}
	add(l.CreatesPerMinute, "/min")
	add(l.ReadsPerMinute, " reads/min")
	add(l.OpenTasks, " open")
	if l.Budget != "" {
		parts = append(parts, "$"+l.Budget+"/"+l.BudgetPeriod)
	}
	switch l.SupplierSpend {
	case "":
	case noBudget:
		parts = append(parts, "any spend")
	default:
		parts = append(parts, "$"+l.SupplierSpend+"/"+l.BudgetPeriod+" spend")
	}
	text := strings.Join(parts, " ")
	return cell{human: cmp.Or(text, "–"), plain: text}
}

// spentCell shows what counts against a budget in its period under way: "$4.10 82 %".
func spentCell(t *terminal, l api.Limits, s api.Spending) cell {
	part := spentPart(l, s)
	c := cell{human: "–", plain: s.Spent}
	if s.Spent != "" {
		c.human = fmt.Sprintf("$%s %d %%", s.Spent, part)
	}
	if part >= account.NearlySpent {
		c.style = t.style.bad
	}
	return c
}

// spentPart returns how much of a budget is spent, in percent; 0 without one.
func spentPart(l api.Limits, s api.Spending) int {
	budget, err := task.ParseMoney(l.Budget)
	if err != nil {
		return 0
	}
	spent, err := task.ParseMoney(s.Spent)
	if err != nil {
		return 0
	}
	return spent.Percent(budget)
}

// keyState says whether a key opens anything, and how long still.
func keyState(t *terminal, k api.Key, now time.Time) cell {
	switch {
	case k.RevokedAt != nil:
		return cell{human: "revoked", plain: "revoked", style: t.style.bad}
	case k.ExpiresAt != nil && !now.Before(k.ExpiresAt.Time):
		return cell{human: "expired", plain: "expired", style: t.style.bad}
	case k.ExpiresAt != nil:
		return cell{human: "ends " + when(k.ExpiresAt, now).human, plain: "open", style: t.style.good}
	default:
		return cell{human: "open", plain: "open", style: t.style.good}
	}
}
