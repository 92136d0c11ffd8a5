package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/disk"
	"unitask/internal/fault"
	"unitask/internal/form"
	"unitask/internal/hint"
)

const uploadLong = `Send a file ahead of the tasks that use it, and print the id of its artifact.

The id stands in any media field of a task, as often as you like, until the artifact expires: 7 days after it was sent
by default. "unitask run" sends files of more than 1 MiB ahead by itself.

A lost connection is taken up again at the last byte that arrived. When this command is interrupted, the same one again
goes on, for 24 hours; a file that is there already isn't sent again.`

type uploadOptions struct {
	clientFlags
	file        string
	contentType string
	asJSON      bool
}

func newUploadCmd(t *terminal) *cobra.Command {
	var o uploadOptions
	cmd := &cobra.Command{
		Use:   "upload FILE",
		Short: "Send a large file ahead of tasks",
		Long:  uploadLong,
		Example: `  unitask upload film.mp4
  shore=$(unitask upload shore.mp4 --content-type video/mp4)   # then video=$shore among the fields of unitask run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return uploadRun(cmd.Context(), t, &o)
		},
	}
	cmd.Flags().StringVar(&o.contentType, "content-type", "", "the file's media `type`; by default by its first bytes")
	addJSON(cmd, &o.asJSON)
	o.add(cmd)
	return cmd
}

func uploadRun(ctx context.Context, t *terminal, o *uploadOptions) error {
	file, err := openUpload(o.file)
	if err != nil {
		return err
	}
	defer func() { _ = file.open.Close() }()
	p := startProgress(t, "upload")
	stop := sync.OnceFunc(p.stop)
	defer stop()
	c, err := o.connect(ctx, t, p.retry)
	if err != nil {
		return err
	}
	if o.contentType != "" {
		file.ContentType = o.contentType
	}
	sent, err := c.Upload(ctx, file.File, func(n int64) { p.sent(n, file.Bytes) })
	stop()
	switch {
	case errors.Is(err, client.ErrNoUploads):
		return client.ErrNoUploads
	case err != nil && ctx.Err() != nil:
		return hint.With(context.Cause(ctx), "the same command goes on where it was interrupted")
	case err != nil:
		return unsent(err)
	case o.asJSON:
		return t.json(sent)
	}
	_, err = fmt.Fprintln(t.out, t.safe(sent.Artifact))
	return err
}

// unsent names the way out of a full quota, in which no waiting helps that a command does.
func unsent(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.RateLimitExceeded && (f.Final || f.RetryAfter > time.Minute) {
		return hint.With(err, "unitask uploads list, and unitask uploads delete ID")
	}
	return err
}

// uploadFile is an open file that can be sent ahead.
type uploadFile struct {
	client.File

	open *os.File
}

func openUpload(name string) (*uploadFile, error) {
	f, err := os.Open(strings.TrimPrefix(name, "@"))
	if err != nil {
		return nil, &hint.UsageError{Message: fmt.Sprintf("%s: %v", name, disk.Cause(err))}
	}
	file, err := uploadOf(name, f)
	if err != nil {
		return nil, &hint.UsageError{Message: name + ": " + disk.Cause(err).Error()}
	}
	return file, nil
}

var errNoRegular = errors.New("is no regular file")

// uploadOf returns an open file as one to send. It closes one that can't be sent.
func uploadOf(name string, f *os.File) (*uploadFile, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoRegular
	} else if err == nil && info.Size() == 0 {
		err = errors.New("is empty")
	}
	var kind string
	if err == nil {
		kind, err = form.FileType(name, f)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &uploadFile{client.File{ReaderAt: f, Bytes: info.Size(), ContentType: kind}, f}, nil
}

// ahead sends large files ahead of their tasks: one that several lines of a batch name once.
type ahead struct {
	ctx      context.Context //nolint:containedctx // of the command that it belongs to
	client   *client.Client
	progress *progress // nil: it isn't shown

	mu   sync.Mutex
	sent map[string]string // ids by names of files, their sizes and times
}

// send is an arguments.AheadFunc. A service that takes no files ahead gets them in the request.
func (a *ahead) send(f *os.File, bytes int64, contentType string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := f.Name()
	if info, err := f.Stat(); err == nil {
		key = fmt.Sprint(key, " ", info.Size(), " ", info.ModTime())
	}
	if id, ok := a.sent[key]; ok {
		return id, nil
	}
	u, err := a.client.Upload(a.ctx, client.File{ReaderAt: f, Bytes: bytes, ContentType: contentType}, func(n int64) { a.show(n, bytes) })
	a.show(0, 0)
	switch {
	case errors.Is(err, client.ErrNoUploads):
		return "", nil
	case err != nil && a.ctx.Err() != nil:
		return "", context.Cause(a.ctx)
	case err != nil:
		return "", unsent(err)
	}
	if a.sent == nil {
		a.sent = map[string]string{}
	}
	a.sent[key] = u.Artifact
	return u.Artifact, nil
}

func (a *ahead) show(sent, all int64) {
	if a.progress != nil {
		a.progress.sent(sent, all)
	}
}

// sender takes the large files of a request, and its other parts before.
type sender interface {
	send(f *os.File, bytes int64, contentType string) (id string, err error)
	check(req api.CreateRequest) error
}

// check asks the service for an authorization that is missing, before files are sent in vain. All else shows later.
func (a *ahead) check(req api.CreateRequest) error {
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	_, err = a.client.Estimate(a.ctx, body)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.AuthorizationRequired {
		return err
	}
	return nil
}

// hashed stands for sending a file ahead, before anything is sent: the request names its bytes.
func hashed(f *os.File, bytes int64, contentType string) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, io.NewSectionReader(f, 0, bytes))
	return fmt.Sprintf("%s %x", contentType, sum.Sum(nil)), err
}

// bar is how much of a file has been sent, as 10 characters and in words.
func bar(sent, all int64) string {
	const width = 10
	full := int(width * sent / max(all, 1))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full) + " " + api.Size(sent) + " of " + api.Size(all)
}
