package task_test

import (
	"testing"

	"unitask/internal/jsonwrite/jsonwritetest"
	"unitask/internal/task"
)

func TestWrite(t *testing.T) { jsonwritetest.Same(t, (*task.Task).Write) }
