package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/hint"
)

func newSuppliersTestCmd(t *terminal) *cobra.Command {
	var o suppliersChangeOptions
	cmd := &cobra.Command{
		Use:         "test NAME",
		Annotations: tabled,
		Short:       "Ask a supplier, without cost, whether it answers and takes the key",
		Long: `Ask a supplier, from the server, whether it answers and takes the server's key: by a free request, as for its list of
models, within ten seconds. A kind that has no such request is asked without the key whether its address answers.

The result is one of ok, reachable (the key wasn't tried), refused (the key or the balance), failing (another error),
unreachable and unsent (as without a readable key); the exit code is 0 for the first two alone. A test isn't work: it
trips no breaker and resets none, and says nothing of a model. Some suppliers list their models without a look at the key.

` + remoteOperator,
		Example: "  unitask suppliers test groq\n  unitask suppliers test groq --json",
		Args:    exactly(&o.name),
		RunE:    func(cmd *cobra.Command, _ []string) error { return suppliersTestRun(cmd.Context(), t, &o) },
	}
	o.add(cmd)
	return cmd
}

func suppliersTestRun(ctx context.Context, t *terminal, o *suppliersChangeOptions) error {
	var got api.SupplierTest
	err := operated(ctx, t, &o.remoteFlags, func(op operatorAPI) (test api.SupplierTest, err error) {
		got, err = op.TestSupplier(ctx, o.name)
		return got, err
	}, func(got api.SupplierTest) error {
		style := t.style.good
		if !got.Passed() {
			style = t.style.bad
		}
		b := table{header: []string{"SUPPLIER", "RESULT", "TIME", "ABOUT"}}
		b.row(same(got.Supplier), cell{human: got.Result, plain: got.Result, style: style},
			cell{human: fmt.Sprintf("%d ms", got.Millis), plain: strconv.FormatInt(got.Millis, 10)}, same(got.About))
		return b.write(t)
	})
	if err == nil && !got.Passed() {
		const remedy = "unitask doctor looks at the settings; unitask suppliers --routes shows how its work fared"
		return hint.With(errors.New(got.Supplier+" is "+got.Result), remedy)
	}
	return hintSuppliers(err)
}
