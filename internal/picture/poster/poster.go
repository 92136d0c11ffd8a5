// Package poster takes the first picture out of a film, by ffmpeg if that is installed.
//
// The film comes from a stranger. So the program reads one file, with the demuxer that the file's first bytes name, and no
// playlist that names others; it opens no address, gets no environment, and has bounds for its time, its memory and its
// output, which is a PNG that is still to be decoded with care.
package poster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	longest  = 10 * time.Second // for one picture, on a slow machine
	maxFrame = 16 << 20         // bytes of the picture
	maxAlloc = "268435456"      // bytes of one piece of the program's memory
	widest   = 1024             // pixels
)

// Maker is the program.
type Maker struct{ path string }

// Here returns the program of this machine, nil without it.
func Here() *Maker {
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		return nil
	}
	return &Maker{path}
}

// Frame returns the first picture of a film, as a PNG.
func (m *Maker) Frame(ctx context.Context, film []byte) ([]byte, error) {
	demuxer := demuxerOf(film)
	if demuxer == "" {
		return nil, errors.New("the format isn't known here")
	}
	dir, err := os.MkdirTemp("", "unitask-film-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "film")
	if err := os.WriteFile(path, film, 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.path, arguments(demuxer, path)...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // which Windows needs
	var frame bounded
	cmd.Stdout = &frame
	err = cmd.Run()
	switch {
	case frame.full:
		return nil, errors.New("the picture is too large")
	case ctx.Err() != nil:
		return nil, errors.New("ffmpeg took too long")
	case err != nil:
		return nil, fmt.Errorf("ffmpeg can't read it: %w", err)
	case len(frame.taken) == 0:
		return nil, errors.New("the film has no picture")
	}
	return frame.taken, nil
}

// arguments have one frame of one file written to stdout.
func arguments(demuxer, path string) []string {
	return []string{
		"-nostdin", "-hide_banner", "-loglevel", "quiet", "-max_alloc", maxAlloc,
		"-threads", "1", "-protocol_whitelist", "file", "-f", demuxer, "-i", "file:" + path,
		"-map", "0:v:0", "-frames:v", "1", "-vf", fmt.Sprintf("scale='min(%d,iw)':-2", widest),
		"-threads", "1", "-c:v", "png", "-f", "image2pipe", "pipe:1",
	}
}

// demuxerOf names the demuxer of a film by its first bytes, "" for other files.
func demuxerOf(film []byte) string {
	switch {
	case len(film) >= 12 && string(film[4:8]) == "ftyp":
		return "mov"
	case bytes.HasPrefix(film, []byte{0x1a, 0x45, 0xdf, 0xa3}):
		return "matroska"
	default:
		return ""
	}
}

// bounded takes no more than maxFrame bytes. It embeds no buffer, whose ReadFrom would pass Write by.
type bounded struct {
	taken []byte
	full  bool
}

// Write refuses bytes beyond the bound, which ends the program.
func (b *bounded) Write(p []byte) (int, error) {
	if len(b.taken)+len(p) > maxFrame {
		b.full = true
		return 0, io.ErrShortWrite
	}
	b.taken = append(b.taken, p...)
	return len(p), nil
}
