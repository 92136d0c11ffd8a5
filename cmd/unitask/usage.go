package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/hint"
	"unitask/internal/shown"
	"unitask/internal/task"
)

type usageOptions struct {
	remoteFlags
	query api.UsageQuery
}

// usageGroups are the values of --by.
var usageGroups = []string{api.ByAccount, api.ByKey, api.ByCapability, api.ByDay, api.BySupplier}

func newUsageCmd(t *terminal) *cobra.Command {
	var o usageOptions
	cmd := &cobra.Command{
		Use:         "usage",
		Annotations: tabled,
		Short:       "Show what was used and what it cost, as an operator",
		Long: `Show what was used and what it cost, as an operator.

The figures are sums that are kept as tasks end, by the day in UTC; a task that was reopened counts by its last end.
By supplier they are what suppliers charged, how attempts there ended, and the tasks that failed there and succeeded
elsewhere. By a name of tasks' metadata they are told apart by its texts; the setting usage_metadata says for which names
sums are kept.

` + remoteOperator,
		Example: `  unitask usage
  unitask usage --by day --since 7d
  unitask usage --by key --account shop --since 2026-11-01 --until 2026-11-30
  unitask usage --by metadata.team
  unitask usage --by supplier --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return usageRun(cmd.Context(), t, &o, time.Now()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.query.By, "by", api.ByAccount, "account, key, capability, day, supplier or metadata.NAME")
	flags.StringVar(&o.query.Account, "account", "", "of one account, by its name or id")
	flags.StringVar(&o.query.Since, "since", "", "the first `day`, such as 2026-11-21, or how long ago, such as 7d (30d)")
	flags.StringVar(&o.query.Until, "until", "", "the last `day` (today)")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(usageGroups, cobra.ShellCompDirectiveNoFileComp))
	o.add(cmd)
	return cmd
}

func usageRun(ctx context.Context, t *terminal, o *usageOptions, now time.Time) (err error) {
	if !slices.Contains(usageGroups, o.query.By) && !strings.HasPrefix(o.query.By, api.ByMetadata) {
		return &hint.UsageError{
			Message: fmt.Sprintf("--by is one of %s or %sNAME, not %q", strings.Join(usageGroups, ", "), api.ByMetadata, o.query.By),
		}
	}
	for flag, day := range map[string]*string{"--since": &o.query.Since, "--until": &o.query.Until} {
		if *day, err = parseDay(flag, *day, now); err != nil {
			return err
		}
	}
	ask := func(op operatorAPI) (api.UsageReport, error) { return op.Usage(ctx, o.query) }
	return hintAccounts(operated(ctx, t, &o.remoteFlags, ask, func(report api.UsageReport) error {
		switch {
		case len(report.Data)+len(report.Suppliers) == 0:
			t.note("nothing from %s to %s", report.Since, report.Until)
			return nil
		case report.By == api.BySupplier:
			return listSpend(t, report.Suppliers)
		case strings.HasPrefix(report.By, api.ByMetadata) && !slices.ContainsFunc(report.Data, func(r api.UsageRow) bool { return r.Group != "" }):
			t.note("no task with %s was summed: the setting usage_metadata names those that are", strings.TrimPrefix(report.By, api.ByMetadata))
		}
		return listUsage(t, report)
	}))
}

// parseDay reads a day, or how long ago it was.
func parseDay(flag, text string, now time.Time) (string, error) {
	if text == "" {
		return "", nil
	}
	if day, err := account.ParseDate(text); err == nil {
		return day.String(), nil
	}
	ago, err := parseLife(flag, text)
	if err != nil {
		return "", &hint.UsageError{Message: fmt.Sprintf("%s takes a day such as 2026-11-21 or a time ago such as 7d, not %q", flag, text)}
	}
	return account.DateOf(now.Add(-ago)).String(), nil
}

func listUsage(t *terminal, report api.UsageReport) error {
	b := table{
		header: []string{strings.ToUpper(strings.TrimPrefix(report.By, api.ByMetadata)), "NAME", "MODE", "SUCCEEDED", "FAILED", "CANCELED", "UNITS", "COST"},
		spare:  []string{"CANCELED", "UNITS"},
	}
	for _, r := range report.Data {
		b.row(same(r.Group), same(r.Name), same(string(r.Mode)), count(r.Succeeded), count(r.Failed), count(r.Canceled), units(r),
			cell{human: "$" + r.Cost, plain: r.Cost})
	}
	return b.write(t)
}

func count(n int64) cell { return same(strconv.FormatInt(n, 10)) }

// units shows the measured quantities: "120 input tokens, 80 output tokens, 3 images".
func units(r api.UsageRow) cell {
	var parts []string
	for _, c := range r.Counts() {
		parts = append(parts, strconv.FormatInt(c.N, 10)+" "+c.Name)
	}
	if seconds := r.Milliseconds / 1000; seconds > 0 {
		parts = append(parts, strconv.FormatInt(seconds, 10)+" s")
	}
	return same(strings.Join(parts, ", "))
}

func listSpend(t *terminal, rows []api.SupplierUsage) error {
	b := table{
		header: []string{"SUPPLIER", "MODE", "OK", "FAILED", "REJECTED", "UNKNOWN", "MEAN", "COST", "UNKNOWN COSTS", "SAVED", "SAVED COST"},
		spare:  []string{"SAVED COST", "UNKNOWN COSTS", "MEAN"},
	}
	for _, r := range rows {
		b.row(same(r.Supplier), same(string(r.Mode)), count(r.OK), count(r.Failed), count(r.Rejected), count(r.Unknown), mean(r),
			spent(r.Cost, r.Mode == task.Test), count(r.CostUnknown), count(r.Saved), cell{human: "$" + r.SavedCost, plain: r.SavedCost})
	}
	return b.write(t)
}

// mean shows how long an attempt took that ended well.
func mean(r api.SupplierUsage) cell {
	if r.OK == 0 {
		return cell{human: "–"}
	}
	d := time.Duration(r.MeanMillis) * time.Millisecond
	return cell{human: shown.Duration(d), plain: strconv.FormatInt(r.MeanMillis, 10)}
}
