package main

import (
	"context"

	"unitask/internal/fault"
)

func openStoreOperator(context.Context, string) (operator, func() error, error) {
	return nil, nil, fault.New(fault.Internal, "no server runs on this data folder")
}
