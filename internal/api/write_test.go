package api_test

import (
	"testing"

	"unitask/internal/api"
	"unitask/internal/jsonwrite/jsonwritetest"
)

func TestWrite(t *testing.T) { jsonwritetest.Same(t, (*api.Task).Write) }
