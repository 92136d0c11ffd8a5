package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// signaled is the cause of a context that a signal ended. It is a context.Canceled.
type signaled struct{ os.Signal }

func (e *signaled) Error() string {
	if e.Signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

func (e *signaled) Is(target error) bool { return target == context.Canceled }

// untilSignal returns a context that the first SIGINT or SIGTERM ends. Later ones have no effect before stop.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	return until(parent, os.Interrupt, syscall.SIGTERM)
}

// until returns a context that the first of the signals ends, as untilSignal does.
func until(parent context.Context, by ...os.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, by...)
	go func() {
		select {
		case s := <-signals:
			cancel(&signaled{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// terminated is an error that SIGTERM led to.
type terminated struct{ error }

func (e *terminated) Unwrap() error { return e.error }

// markTerminated tells a command that SIGTERM ended from one that was interrupted.
func markTerminated(ctx context.Context, err error) error {
	by, ok := errors.AsType[*signaled](context.Cause(ctx))
	if ok && by.Signal == syscall.SIGTERM && errors.Is(err, context.Canceled) {
		return &terminated{err}
	}
	return err
}
