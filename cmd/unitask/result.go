package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/save"
	"unitask/internal/shown"
	"unitask/internal/submit"
)

// resultOptions decide the use of the output of an ended task.
type resultOptions struct {
	output string // as of -o
	asJSON bool
	open   bool         // its files are opened
	moves  []api.Move   // the times of its states, for JSON; nil if not requested
	said   *textPrinter // the printed part of its text; nil: no part
}

// showResult saves or prints a task's result. A task without a result is an error, after its JSON.
func showResult(ctx context.Context, t *terminal, c *client.Client, done api.Task, o resultOptions) error {
	if o.asJSON {
		if err := t.json(timed{done, o.moves}); err != nil {
			return err
		}
	}
	if err := submit.Ended(done); err != nil {
		o.said.end()
		return err
	}
	if o.said != nil && done.Output != nil && done.Output.Text != nil {
		defer t.summarize(done)
		defer t.noteCut(done)
		defer t.noteSources(done)
		err := o.said.rest(*done.Output.Text)
		if errors.Is(err, errReworded) {
			return hint.With(err, "unitask tasks get "+done.ID+" prints it")
		}
		return err
	}
	t.summarize(done)
	if !o.asJSON { // which says it itself
		defer t.noteCut(done)
	}
	switch {
	case o.output != "":
		files, err := saveParts(ctx, t, c, done, o.output)
		if err != nil {
			return hint.With(err, "unitask tasks get "+done.ID+" -o FILE fetches the result again")
		}
		if o.open {
			return t.open(ctx, files)
		}
		return nil
	case o.open:
		return openParts(ctx, t, c, done)
	case o.asJSON || done.Output == nil:
		return nil
	}
	if err := printOutput(t, done); err != nil {
		return err
	}
	t.showPictures(ctx, c, done)
	return nil
}

// summarize shows its duration and cost on a terminal.
func (t *terminal) summarize(done api.Task) {
	if !t.errTTY || done.FinishedAt == nil {
		return
	}
	line := fmt.Sprintf("%s %s in %s", done.Capability, done.State, shown.Duration(done.FinishedAt.Sub(done.CreatedAt.Time)))
	if done.Usage != nil {
		line += ", $" + done.Usage.Cost.Amount
	}
	t.note("%s", t.errStyle.faint.Render(printable(line)))
}

func printOutput(t *terminal, done api.Task) error {
	out := done.Output
	if data := out.Shown(); data != nil {
		return t.encode(data)
	}
	if out.Text != nil {
		text := t.safe(*out.Text)
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		_, err := io.WriteString(t.out, text)
		t.noteSources(done)
		return err
	}
	if out.Embeddings != nil {
		return printEmbeddings(t, out.Embeddings)
	}
	if err := printArtifacts(t, out.Artifacts()); err != nil {
		return err
	}
	if t.outTTY && len(out.Artifacts()) > 0 {
		t.note("%s unitask tasks get %s -o 'NAME.*' saves it; run takes -o too", t.errStyle.bold.Render("hint:"), printable(done.ID))
	}
	return nil
}

// noteSources names the pages that an answer rests on.
func (t *terminal) noteSources(done api.Task) {
	for _, c := range done.Output.Citations {
		t.note("%s %s", t.errStyle.faint.Render("source:"), oneLine(strings.TrimSpace(c.Title+" "+c.URL)))
	}
}

// printEmbeddings prints one vector a line, its numbers between tabs; a person gets the shape alone.
func printEmbeddings(t *terminal, vectors [][]float32) error {
	if t.outTTY {
		for i, v := range vectors {
			if _, err := fmt.Fprintf(t.out, "vector %d: %d numbers\n", i+1, len(v)); err != nil {
				return err
			}
		}
		t.note("%s --json, a pipe or -o FILE gives the numbers", t.errStyle.bold.Render("hint:"))
		return nil
	}
	for _, v := range vectors {
		numbers := make([]string, len(v))
		for i, n := range v {
			numbers[i] = strconv.FormatFloat(float64(n), 'g', -1, 32)
		}
		if _, err := fmt.Fprintln(t.out, strings.Join(numbers, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// printArtifacts lists files: for a program type, bytes and URL between tabs.
func printArtifacts(t *terminal, all []api.Artifact) error {
	for _, a := range all {
		line := fmt.Sprintf("%s\t%d\t%s", oneLine(a.ContentType), a.Bytes, oneLine(a.URL))
		if t.outTTY {
			line = t.style.bold.Render(save.Shape(a)) + "\n  " + t.link(a.URL)
		}
		if _, err := fmt.Fprintln(t.out, line); err != nil {
			return err
		}
	}
	return nil
}

// openParts saves a result in the user's cache folder and opens it.
func openParts(ctx context.Context, t *terminal, c *client.Client, done api.Task) error {
	parts, err := save.Parts(done.Output)
	if err != nil {
		return err
	}
	files, err := save.Keep(ctx, c, done.ID, parts, save.ResultsFolder())
	if err != nil {
		return hint.With(err, "unitask open "+done.ID+" tries again")
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return t.open(ctx, paths)
}

// saveParts saves or prints a result, and returns the files that were made.
func saveParts(ctx context.Context, t *terminal, c *client.Client, done api.Task, output string) ([]string, error) {
	parts, err := save.Parts(done.Output)
	if err != nil {
		return nil, err
	}
	if output == "-" {
		return nil, saveToStdout(ctx, t, c, parts)
	}
	replaced := save.Replaces(parts, output, done.ID)
	files, err := save.All(ctx, c, parts, output, done.ID)
	for i, name := range files {
		verb := "saved"
		if replaced[i] {
			verb = "replaced"
		}
		t.note("%s %s (%s)", verb, name, parts[i].Shape())
		if warning := save.Mismatch(name, parts[i].ContentType); warning != "" {
			t.note("note: %s", warning)
		}
	}
	return files, err
}

func saveToStdout(ctx context.Context, t *terminal, c *client.Client, parts []save.Part) error {
	if len(parts) > 1 {
		return fmt.Errorf("the result has %d files; stdout takes one", len(parts))
	}
	for _, p := range parts {
		if t.outTTY && p.Artifact != nil {
			return fmt.Errorf("a terminal can't show %s", p.ContentType)
		}
		if t.outTTY {
			p.Data = []byte(t.safe(string(p.Data)))
		}
		if err := p.Write(ctx, c, t.out); err != nil {
			return err
		}
	}
	return nil
}
