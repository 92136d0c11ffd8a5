package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"unitask/internal/door/openai"
)

// said is a chat's messages, as unitask and OpenAI have them alike.
const said = `[{"role":"user","content":"hello"}]`

// native is the chat that is compared with those by a door.
func native(n *node) target { return n.tasks("text.chat", `"messages":`+said, "", http.StatusOK) }

// completions are chats by OpenAI's door.
func completions(n *node) target {
	return n.foreign(openai.PathChat, `{"model":"text.chat","messages":`+said+`}`)
}

// responses are the same, as responses.
func responses(n *node) target {
	return n.foreign(openai.PathResponses, `{"model":"text.chat","input":`+said+`}`)
}

// foreign is a request by a door of this node, without a key for retries, as OpenAI's libraries send it.
func (n *node) foreign(path, body string) target {
	return posts(n.address, path, "Authorization: Bearer "+n.key+"\r\nX-Stainless-Retry-Count: 0\r\n", body)
}

// posts is one request again and again; headers end in CRLF each.
func posts(address, path, headers, body string) target {
	raw := []byte("POST " + path + " HTTP/1.1\r\nHost: bench\r\n" + headers + "Content-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	return target{address: address, status: http.StatusOK, next: new(atomic.Int64), request: func(int64) []byte { return raw }}
}

// portkeyServer is Portkey's gateway, which npm installs for the tests. bench is run in the repository's root.
const portkeyServer = "test/npm/node_modules/@portkey-ai/gateway/build/start-server.js"

// portkey measures Portkey's gateway before the same upstream, as it comes: one process, without keys or a record of
// its own. Without it or Node.js on this machine, it isn't measured.
func (b *testbed) portkey(ctx context.Context, d time.Duration) (figures, error) {
	server, err := filepath.Abs(portkeyServer)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(server); err != nil {
		return nil, nil
	}
	if _, err := exec.LookPath("node"); err != nil {
		return nil, nil
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	p, err := b.start(ctx, address, "node", server, "--headless", "--port="+port)
	if err != nil {
		return nil, err
	}
	defer p.kill()
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := p.awaitListening(ctx); err != nil {
		return nil, err
	}
	headers := "Authorization: Bearer x\r\nx-portkey-provider: openai\r\nx-portkey-custom-host: http://" + b.upstream.address + "/v1\r\n"
	return b.full(p, posts(address, "/v1/chat/completions", headers, `{"model":"mock","messages":`+said+`}`), 64)(ctx, d)
}
