package model_test

import (
	"bufio"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// gate stands before a model server: it counts the answers that are asked for, notes them as the server says them, and
// holds each up after some pieces.
type gate struct {
	*httptest.Server

	pieces int           // that pass at once
	opened chan struct{} // closed when the rest passes too

	mu    sync.Mutex
	asked int
	said  []string // the pieces of the last answer, as far as they passed
}

// newGate holds answers up after so many pieces, until it is opened.
func newGate(t *testing.T, base string, pieces int) *gate {
	t.Helper()
	behind, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{pieces: pieces, opened: make(chan struct{})}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(behind)
			g.mu.Lock()
			defer g.mu.Unlock()
			g.asked++
			g.said = nil
		},
		FlushInterval:  -1,
		ModifyResponse: g.holdUp,
		ErrorLog:       log.New(io.Discard, "", 0), // a reader that has gone
	}
	g.Server = httptest.NewServer(proxy)
	t.Cleanup(g.Close)
	return g
}

// open lets the rest of all answers pass.
func (g *gate) open() { close(g.opened) }

// count returns how many answers were asked for.
func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked
}

// passed returns the pieces of the last answer that passed.
func (g *gate) passed() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.said...)
}

func (g *gate) holdUp(r *http.Response) error {
	r.Body = &held{ReadCloser: r.Body, lines: bufio.NewReader(r.Body), gate: g, gone: r.Request.Context().Done()}
	return nil
}

// held is the body of an answer, which is read line by line.
type held struct {
	io.ReadCloser

	lines *bufio.Reader
	gate  *gate
	gone  <-chan struct{} // closed when its reader has gone
	line  string
	n     int // pieces that have passed
}

// Read implements io.Reader.
func (h *held) Read(b []byte) (int, error) {
	if h.line == "" {
		line, err := h.lines.ReadString('\n')
		if line == "" {
			return 0, err
		}
		if !h.passes(line) {
			return 0, io.ErrUnexpectedEOF
		}
		h.line = line
	}
	n := copy(b, h.line)
	h.line = h.line[n:]
	return n, nil
}

// passes waits until a line may pass; a reader that goes meanwhile gets no more.
func (h *held) passes(line string) bool {
	var event struct {
		Choices []struct {
			Delta struct{ Content string }
		}
	}
	data, is := strings.CutPrefix(line, "data: ")
	if !is || json.Unmarshal([]byte(data), &event) != nil || len(event.Choices) == 0 || event.Choices[0].Delta.Content == "" {
		return true
	}
	if h.n++; h.n > h.gate.pieces {
		select {
		case <-h.gate.opened:
		case <-h.gone:
			return false
		}
	}
	h.gate.mu.Lock()
	defer h.gate.mu.Unlock()
	h.gate.said = append(h.gate.said, event.Choices[0].Delta.Content)
	return true
}
