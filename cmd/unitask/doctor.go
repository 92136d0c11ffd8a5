package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"
)

const doctorLong = `Look at everything that has to be right: the settings of client and server, the data folder and its
disk, the keyring, the service, the key, the clock, and the suppliers of the server on this machine.
Nothing is changed, and no key is shown.

The exit code is 0 without a failure; else it is that of the first one, as any other command would end
with it: 1 the settings, the data folder or a supplier that refuses the server's key, 2 the command
line or the profile, 4 the key, 8 unreachable.`

const doctorExample = `  unitask doctor
  unitask doctor --base-url https://ai.example.org --json
  unitask doctor --config unitask.yaml --jq '.[] | select(.status == "fail") | .hint'`

type doctorOptions struct {
	clientFlags
	operatorFlags
	config string
}

// health is the result of a check: ok, warn, fail, or off if unused.
type health string

const (
	healthOK   health = "ok"
	healthWarn health = "warn"
	healthFail health = "fail"
	healthOff  health = "off"
)

// finding is one line of the diagnosis.
type finding struct {
	Check  string `json:"check"`
	Status health `json:"status"`
	Found  string `json:"found"`
	Hint   string `json:"hint,omitempty"`
	err    error
}

// unhealthyError is a diagnosis with failures.
type unhealthyError struct {
	failed, all int
	first       finding
}

func (e *unhealthyError) Error() string {
	return fmt.Sprintf("%d of %d checks failed, %s the first", e.failed, e.all, e.first.Check)
}

func newDoctorCmd(t *terminal) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:         "doctor",
		SuggestFor:  []string{"status", "health"},
		Annotations: tabled,
		Short:       "Find out what is wrong here: settings, data, keyring, service, key, suppliers",
		Long:        doctorLong,
		Example:     doctorExample,
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return doctorRun(cmd.Context(), t, &o) },
	}
	cmd.Flags().StringVar(&o.config, "config", "", "check this server's settings `file` (UNITASK_CONFIG; default unitask.yaml in this folder, if it is there)")
	o.addService(cmd)
	o.operatorFlags.add(cmd)
	return cmd
}

func doctorRun(ctx context.Context, t *terminal, o *doctorOptions) error {
	d := &diagnosis{t: t, o: o}
	d.client()
	d.server(ctx)
	d.keyring(ctx)
	d.service(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.show(); err != nil {
		return err
	}
	return d.verdict()
}

// diagnosis is the findings so far, in the order of the checks.
type diagnosis struct {
	t        *terminal
	o        *doctorOptions
	findings []finding
}

func (d *diagnosis) ok(check, format string, args ...any) {
	d.add(finding{Check: check, Status: healthOK, Found: fmt.Sprintf(format, args...)})
}

func (d *diagnosis) warn(check, found, hint string) {
	d.add(finding{Check: check, Status: healthWarn, Found: found, Hint: hint})
}

// fail notes an error with the hint that any other command would give.
func (d *diagnosis) fail(check string, err error) {
	d.add(finding{Check: check, Status: healthFail, Found: plain(err), Hint: hintOf("unitask doctor", err), err: err})
}

func (d *diagnosis) add(f finding) { d.findings = append(d.findings, f) }

func (d *diagnosis) show() error {
	if d.o.asJSON {
		return d.t.json(d.findings)
	}
	styles := map[health]lipgloss.Style{
		healthOK: d.t.style.good, healthWarn: d.t.style.busy, healthFail: d.t.style.bad, healthOff: d.t.style.faint,
	}
	b := table{header: []string{"CHECK", "STATUS", "FOUND"}}
	for _, f := range d.findings {
		row := []cell{same(f.Check), {human: string(f.Status), plain: string(f.Status), style: styles[f.Status]}, same(f.Found)}
		if !d.t.outTTY {
			row = append(row, same(f.Hint)) // a person reads them below
		}
		b.row(row...)
	}
	return errors.Join(b.write(d.t), d.hints())
}

// hints writes them below the table on a terminal, whose lines are short.
func (d *diagnosis) hints() error {
	p := page{t: d.t}
	for _, f := range d.findings {
		if d.t.outTTY && f.Hint != "" {
			p.line("%s %s: %s", d.t.style.bold.Render("hint:"), f.Check, printable(f.Hint))
		}
	}
	return p.err
}

func (d *diagnosis) verdict() error {
	e := &unhealthyError{all: len(d.findings)}
	for _, f := range d.findings {
		if f.Status != healthFail {
			continue
		}
		if e.failed++; e.failed == 1 {
			e.first = f
		}
	}
	if e.failed == 0 {
		return nil
	}
	return e
}

// checkTime bounds a question to a server; a dead one shouldn't hold up the rest.
const checkTime = 10 * time.Second

// private reports whether a folder is its owner's alone.
func private(info os.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }
