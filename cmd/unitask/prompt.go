package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"unitask/internal/hint"

	xterm "github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// stdin reads standard input until ctx ends.
func (t *terminal) stdin(ctx context.Context) io.Reader {
	return lazyReader(sync.OnceValue(func() io.Reader {
		read, write := io.Pipe()
		go func() {
			_, err := io.Copy(write, t.in)
			_ = write.CloseWithError(err)
		}()
		context.AfterFunc(ctx, func() { _ = write.CloseWithError(context.Cause(ctx)) })
		return read
	}))
}

// lazyReader is a reader that is made at the first read.
type lazyReader func() io.Reader

func (r lazyReader) Read(p []byte) (int, error) { return r().Read(p) }

// slowRead is how long a first read may take without a word: a program may have left its pipe open for us.
const slowRead = 2 * time.Second

// slowReader calls noteFunc, once, if its first byte takes long.
type slowReader struct {
	io.Reader
	noteFunc func()
	begun    bool
}

func (r *slowReader) Read(p []byte) (int, error) {
	if !r.begun {
		r.begun = true
		defer time.AfterFunc(slowRead, r.noteFunc).Stop()
	}
	return r.Reader.Read(p)
}

// readHidden asks for a line that isn't echoed.
func (t *terminal) readHidden(ctx context.Context, question string) (string, error) {
	return t.ask(ctx, func(f *os.File, in io.Reader) (string, error) {
		before, err := term.MakeRaw(int(f.Fd()))
		if err != nil {
			return "", err
		}
		defer func() { _ = term.Restore(int(f.Fd()), before) }()
		line, err := term.NewTerminal(oneByte{in, t.err}, "").ReadPassword(question)
		if errors.Is(err, term.ErrPasteIndicator) {
			err = nil
		}
		if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D
			err = &signaled{os.Interrupt}
		}
		if err != nil {
			_, _ = io.WriteString(t.err, "\r\n")
		}
		return line, err
	})
}

// agrees asks at the terminal, if there is one; every answer but a yes is a no.
func (t *terminal) agrees(ctx context.Context, question string) (bool, error) {
	if !t.inTTY {
		return false, nil
	}
	answer, err := t.ask(ctx, func(_ *os.File, in io.Reader) (string, error) {
		_, _ = fmt.Fprint(t.err, question+" [y/N] ")
		line, err := bufio.NewReader(in).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if err != nil {
			_, _ = fmt.Fprintln(t.err)
		}
		return strings.ToLower(strings.TrimSpace(line)), err
	})
	return answer == "y" || answer == "yes", err
}

// ask has a question asked at the terminal and its answer read, in place of a line that is being redrawn. The end
// of ctx ends it at once.
func (t *terminal) ask(ctx context.Context, question func(*os.File, io.Reader) (string, error)) (string, error) {
	f, ok := t.in.(*os.File)
	if !ok || !t.inTTY {
		return "", &hint.UsageError{Message: "there is no terminal to ask at"}
	}
	in, err := cancelreader.NewReader(f)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }()
	t.screen.Lock()
	defer t.screen.Unlock()
	t.clearLocked()
	defer context.AfterFunc(ctx, func() { in.Cancel() })()
	answer, err := question(f, in)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return answer, err
}

// hush keeps keys that are typed ahead of the next prompt off the screen until end is called. They wait for the prompt.
func (t *terminal) hush() (end func()) {
	f, ok := t.in.(*os.File)
	if !ok || !t.inTTY {
		return func() {}
	}
	before, err := xterm.GetState(f.Fd())
	if err != nil {
		return func() {}
	}
	quiet := *before
	withoutEcho(&quiet)
	_ = xterm.SetState(f.Fd(), &quiet) // the keys are shown then, as they always were
	return func() { _ = xterm.SetState(f.Fd(), before) }
}

// oneByte reads no further than it must, since the rest may answer the next question.
type oneByte struct {
	io.Reader
	io.Writer
}

func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 1)]) }
