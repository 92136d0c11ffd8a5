package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/task"
)

// node is a unitask server on a data folder of its own.
type node struct {
	*process
	testbed *testbed
	data    string
	options nodeOptions
	key     string // without limits, of the mode that was asked for
}

// nodeOptions configure a node.
type nodeOptions struct {
	mode     task.Mode
	slow     bool   // the upstream's slow half
	standard bool   // requests are sent by net/http
	catalog  string // entries that replace the directory's
	places   int    // attempts in flight at the supplier; 0: no limit
	routes   int    // beside the one that does the work, each dearer
	store    string // address of a database; "": its own folder
	doors    bool   // OpenAI's is open
}

// newNode starts a server on a fresh folder, with a key of its own.
func (b *testbed) newNode(ctx context.Context, o nodeOptions) (*node, error) {
	n, err := b.newKeylessNode(ctx, o)
	if err != nil {
		return nil, err
	}
	if n.key, err = n.newKey(ctx); err != nil {
		n.kill()
		return nil, err
	}
	return n, nil
}

// newKeylessNode starts a server on a fresh folder.
func (b *testbed) newKeylessNode(ctx context.Context, o nodeOptions) (*node, error) {
	b.nodes++
	n := &node{testbed: b, data: filepath.Join(b.dir, "node"+strconv.Itoa(b.nodes)), options: o}
	if err := os.MkdirAll(n.data, 0o700); err != nil {
		return nil, err
	}
	return n, n.start(ctx)
}

// start starts the server on its folder and returns when it is ready.
func (n *node) start(ctx context.Context) error {
	config := filepath.Join(n.data, "unitask.yaml")
	if err := n.configure(config); err != nil {
		return err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	n.process, err = n.testbed.start(ctx, address, n.testbed.binary, "serve", "--config", config, "--listen", address, "--data-dir", n.data)
	if err != nil {
		return err
	}
	return n.awaitReady(ctx)
}

func (n *node) configure(path string) error {
	half := "v1"
	if n.options.slow {
		half = slowPath
	}
	transport := "direct"
	if n.options.standard {
		transport = "standard"
	}
	text := `limits: {creates_per_minute: 1000000000, reads_per_minute: 1000000000, open_tasks: 1000000000, queue: 1000000000}
suppliers:
  - {name: mock, kind: openai, transport: ` + transport + `, max_concurrent: ` + strconv.Itoa(n.options.places) + `, base_url: "http://` + n.testbed.upstream.address + `/` + half + `", options: {features: images tools}}
routes:
  text.chat:
    - {supplier: mock, model: mock, price: {unit: mtok, input: "0.05", output: "0.40"}}
`
	for i := range n.options.routes {
		text += fmt.Sprintf("    - {supplier: mock, model: mock-%d, price: {unit: mtok, input: \"%d\", output: \"9\"}}\n", i, i%50+1)
	}
	if n.options.doors {
		text += "doors: [openai]\n"
	}
	if n.options.store != "" {
		text += "store: " + strconv.Quote(n.options.store) + "\n"
	}
	if n.options.catalog != "" {
		text += "catalog: [catalog.yaml]\n"
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "catalog.yaml"), []byte(n.options.catalog), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// readyWithin is long enough for a million tasks on a slow disk.
const readyWithin = time.Minute

func (n *node) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := n.awaitListening(ctx); err != nil {
		return err
	}
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.address+api.PathReady, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

// remove kills the server and removes its files.
func (n *node) remove() {
	n.kill()
	_ = os.RemoveAll(n.data)
}

func (n *node) newKey(ctx context.Context) (string, error) {
	c := exec.CommandContext(ctx, n.testbed.binary, "keys", "create", "--name", "bench", "--mode", string(n.options.mode),
		"--json", "--data-dir", n.data)
	c.Env = n.testbed.environment()
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("keys create: %w: %s", err, stderr.String())
	}
	var k api.Key
	if err := json.Unmarshal(out, &k); err != nil {
		return "", err
	}
	if _, ok := account.ParseKeySecret(account.DefaultKeyPrefix, k.Secret); !ok {
		return "", errors.New("keys create printed no key")
	}
	return k.Secret, nil
}

// tasks is the creation of tasks on this node; headers end in CRLF each.
func (n *node) tasks(capability, input, headers string, status int) target {
	body := `{"capability":"` + capability + `","input":{` + input + `}}`
	head := "POST " + api.PathTasks + " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + n.key + "\r\n" + headers +
		"Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\nIdempotency-Key: " +
		n.testbed.run + "-" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-"
	return target{address: n.address, status: status, next: new(atomic.Int64), request: func(i int64) []byte {
		out := make([]byte, 0, len(head)+len(body)+24)
		out = append(strconv.AppendInt(append(out, head...), i, 10), "\r\n\r\n"...)
		return append(out, body...)
	}}
}
