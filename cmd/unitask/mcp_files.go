package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/disk"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/mcp"
)

// offered are the folders whose files a model may have sent: no path and no link leads out of them.
type offered []string

// check makes the folders' paths absolute.
func (o offered) check() error {
	for i, dir := range o {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = errors.New("is no folder")
		}
		if err == nil {
			o[i], err = filepath.Abs(dir)
		}
		if err != nil {
			return &hint.UsageError{Message: "--files " + dir + ": " + disk.Cause(err).Error()}
		}
	}
	return nil
}

// upload returns the function by which a tool sends files; nil without folders.
func (o offered) upload(c *client.Client) mcp.UploadFunc {
	if len(o) == 0 {
		return nil
	}
	return func(ctx context.Context, path string, sent func(sent, all int64)) (api.Upload, error) {
		f, err := o.open(path)
		if err != nil {
			return api.Upload{}, fault.Invalid("path", "can't be sent: "+disk.Cause(err).Error())
		}
		defer func() { _ = f.open.Close() }()
		u, err := c.Upload(ctx, f.File, func(n int64) { sent(n, f.Bytes) })
		if errors.Is(err, client.ErrNoUploads) {
			err = client.ErrNoUploads
		}
		return u, err
	}
}

var errNotOffered = errors.New("it isn't in a folder that --files offers")

// open opens a file by its absolute path, or by one within a folder.
func (o offered) open(path string) (*uploadFile, error) {
	last := errNotOffered
	for _, dir := range o {
		within := path
		if filepath.IsAbs(path) {
			var err error
			if within, err = filepath.Rel(dir, path); err != nil {
				continue
			}
		}
		if !filepath.IsLocal(within) {
			continue
		}
		f, err := openWithin(dir, within)
		if err == nil {
			return uploadOf(path, f)
		}
		last = err
	}
	return nil, last
}

func openWithin(dir, path string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		err = &fs.PathError{Op: "open", Path: path, Err: errNoRegular}
	}
	if err != nil {
		return nil, err
	}
	return root.Open(path)
}
