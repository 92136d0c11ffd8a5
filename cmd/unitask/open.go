package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/save"
	"unitask/internal/submit"
	"unitask/internal/task"
)

const openLong = `Open the console of the server on this machine in the browser, signed in as its operator by a one-time link;
or the result of a task, one file of it or, with "latest", the newest result, with the program that this system has for it.
Files are saved first, in the user's cache folder or where -o says. Where there is no desktop, as over SSH or in a container,
the link or the files' paths are printed and nothing is opened.`

const openExample = `  unitask open
  unitask open latest
  unitask open task_06gztwr81bcb6csfsxswat9e1m
  unitask open art_06gztwr81ar2sk7g2v0pa8szvq -o ~/Pictures
  unitask open --print`

// latest names the newest result.
const latest = "latest"

// searched is how many of the newest tasks are looked through for an artifact.
const searched = 1000

type openOptions struct {
	clientFlags
	operatorFlags
	id, folder string
	print      bool
}

func newOpenCmd(t *terminal) *cobra.Command {
	var o openOptions
	cmd := &cobra.Command{
		Use:               "open [latest | TASK | ARTIFACT]",
		Short:             "Open the console, or a result with the system's own program for it",
		Long:              openLong,
		Example:           openExample,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeTask(t, &o.clientFlags, task.Succeeded),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.id = args[0]
			}
			if o.id == "" {
				return o.openConsole(cmd.Context(), t)
			}
			return openRun(cmd.Context(), t, &o)
		},
	}
	cmd.Flags().StringVarP(&o.folder, "output", "o", "", "save the files in this `folder`")
	_ = cmd.MarkFlagDirname("output")
	cmd.Flags().BoolVar(&o.print, "print", false, "print the link or the paths and open nothing")
	o.addService(cmd)
	o.operatorFlags.add(cmd)
	return cmd
}

func openRun(ctx context.Context, t *terminal, o *openOptions) error {
	o.choice.DataDir = o.dataDir
	c, err := o.connect(ctx, t, nil)
	if err != nil {
		return err
	}
	done, err := o.find(ctx, c)
	if err != nil {
		return err
	}
	parts, err := o.parts(done)
	if err != nil {
		return err
	}
	files, err := save.Keep(ctx, c, done.ID, parts, o.target())
	if _, local := errors.AsType[*fs.PathError](err); local {
		return hint.With(err, "-o names another folder")
	}
	if err != nil {
		return err
	}
	if o.asJSON {
		return t.json(files)
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	if o.print {
		return t.list(paths)
	}
	return t.open(ctx, paths)
}

// open opens files with the system's program for each, or prints their paths where there is no desktop.
func (t *terminal) open(ctx context.Context, paths []string) error {
	program := save.ProgramHere()
	if program == nil {
		t.note("there is no desktop here to open it with")
		return t.list(paths)
	}
	for _, path := range paths {
		if err := program.Open(ctx, path); err != nil {
			return hint.With(fmt.Errorf("%s: %w", program.Name, err), "the file is there: "+path)
		}
		t.note("opened %s", path)
	}
	return nil
}

func (t *terminal) list(paths []string) error {
	for _, path := range paths {
		if _, err := fmt.Fprintln(t.out, path); err != nil {
			return err
		}
	}
	return nil
}

// target is the folder to save in.
func (o *openOptions) target() string {
	if o.folder != "" {
		return o.folder
	}
	return save.ResultsFolder()
}

// find returns the task that has ended and is meant.
func (o *openOptions) find(ctx context.Context, c *client.Client) (api.Task, error) {
	switch {
	case o.id == latest:
		return o.search(ctx, c, func(one api.Task) bool { return one.Output != nil },
			errors.New("no task has a result yet"), `unitask run image.generate "a red fox" makes one`)
	case strings.HasPrefix(o.id, "art_"):
		missing := fault.Newf(fault.NotFound, "none of the newest %d results has the file %s", searched, o.id)
		return o.search(ctx, c, func(one api.Task) bool { return hasArtifact(one, o.id) }, missing, "unitask open TASK looks in one task")
	}
	r, err := c.Get(ctx, o.id, client.GetOptions{})
	if err != nil {
		return api.Task{}, err
	}
	if !r.Task.State.Terminal() {
		return api.Task{}, hint.With(errors.New(o.id+" is still "+string(r.Task.State)), "unitask tasks wait "+o.id)
	}
	return r.Task, submit.Ended(r.Task)
}

func (o *openOptions) search(ctx context.Context, c *client.Client, is func(api.Task) bool, missing error, step string) (api.Task, error) {
	next := client.ListOptions{State: task.Succeeded, Limit: api.MaxListLimit}
	for seen := 0; seen < searched; {
		page, err := c.List(ctx, next)
		if err != nil {
			return api.Task{}, err
		}
		for _, one := range page.Data {
			if is(one) {
				return one, nil
			}
		}
		seen += len(page.Data)
		if page.NextCursor == nil || *page.NextCursor == next.Cursor {
			break
		}
		next.Cursor = *page.NextCursor
	}
	return api.Task{}, hint.With(missing, step)
}

func hasArtifact(one api.Task, id string) bool {
	for _, a := range one.Output.Artifacts() {
		if a.ID == id {
			return true
		}
	}
	return false
}

// parts are those of the task, or the one that was named.
func (o *openOptions) parts(done api.Task) ([]save.Part, error) {
	all, err := save.Parts(done.Output)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, hint.With(errors.New(done.ID+" has no output"), "unitask tasks get "+done.ID)
	}
	for i, p := range all {
		if p.Artifact != nil && p.Artifact.ID == o.id {
			return all[i : i+1], nil
		}
	}
	return all, nil
}
