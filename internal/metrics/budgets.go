package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"unitask/internal/operator"
)

// WatchBudgets shows at each scrape how many budgets are nearly spent. Call it once.
func (m *Metrics) WatchBudgets(count func(context.Context) (accounts, keys operator.BudgetCount, err error)) {
	m.registry.MustRegister(budgetsWatch(count))
}

// budgetsWatch counts the budgets.
type budgetsWatch func(context.Context) (accounts, keys operator.BudgetCount, err error)

var descBudgets = desc("budgets",
	"Live budgets of which most is spent or reserved in their day or month: near, from 80 % on, or spent, without a rest.", "of", "level")

// Describe implements prometheus.Collector.
func (budgetsWatch) Describe(ch chan<- *prometheus.Desc) { ch <- descBudgets }

// Collect implements prometheus.Collector.
func (count budgetsWatch) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	accounts, keys, err := count(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(descBudgets, err)
		return
	}
	for of, n := range map[string]operator.BudgetCount{"account": accounts, "key": keys} {
		ch <- prometheus.MustNewConstMetric(descBudgets, prometheus.GaugeValue, float64(n.Near), of, "near")
		ch <- prometheus.MustNewConstMetric(descBudgets, prometheus.GaugeValue, float64(n.Spent), of, "spent")
	}
}
