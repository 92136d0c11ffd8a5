package node

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"unitask/internal/config"
	"unitask/internal/inquiry"
	"unitask/internal/metrics"
	"unitask/internal/requestlog"
	"unitask/internal/server"
)

// openRequests opens the request log, unless the settings turn it off.
func (n *Node) openRequests(l config.Limits, counts *metrics.Metrics) (err error) {
	if l.RequestLog == 0 {
		return nil
	}
	n.requests, err = requestlog.Open(requestlog.Config{
		Dir: filepath.Join(n.DataDir, RequestsName), Size: int64(l.RequestLog), Keep: time.Duration(l.RequestLogAge), Now: ClockOf(n.db), Logger: n.log,
	})
	if err == nil {
		counts.WatchRequests(n.requests.Lost)
	}
	return err
}

// recordRequest logs an answered request of the API, except for successful ones without a key, such as probes of
// health.
func (n *Node) recordRequest(r server.Request) {
	if n.requests == nil || (r.KeyID == "" && r.Status < http.StatusBadRequest) {
		return
	}
	n.requests.Add(requestlog.Entry{
		ID: r.ID, At: r.At, Client: r.Client, KeyID: r.KeyID, Account: r.Account, TaskID: r.TaskID, Method: r.Method, Route: r.Route,
		Status: r.Status, Code: r.Code, Took: r.Took,
	})
}

// nameOf names this node for people: by its machine, and its port, because several may run on one.
func nameOf(listen string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	_, port, _ := net.SplitHostPort(listen)
	return net.JoinHostPort(host, port)
}

// requestsFound is what another node's request log has of an id.
type requestsFound struct {
	Requests []requestlog.Entry `json:"requests"`
	Cut      bool               `json:"cut,omitempty"` // there are more than an answer holds
}

// answerRequests answers another node that looks for an id in the request logs; nil if this one's can't be read.
func (n *Node) answerRequests(ctx context.Context, id string) json.RawMessage {
	var out requestsFound
	if n.requests != nil {
		var err error
		if out.Requests, err = n.requests.Find(ctx, id); ctx.Err() != nil {
			return nil // it is answered without this one
		} else if err != nil {
			n.log.WarnContext(ctx, "another node's question about the request log has no answer", slog.Any("error", err))
			return nil
		}
	}
	for {
		raw, err := json.Marshal(out)
		if err != nil || len(raw) <= inquiry.MostAnswer {
			return raw
		}
		out.Requests, out.Cut = out.Requests[:len(out.Requests)*inquiry.MostAnswer/len(raw)], true
	}
}

// askRequests asks the other nodes for an id's requests; with one, until a node has any. incomplete are the nodes whose
// part is missing or cut.
func (n *Node) askRequests(ctx context.Context, id string, one bool) (found []requestlog.Entry, incomplete []string) {
	read := func(a inquiry.Answer) (part requestsFound, whole bool) {
		err := json.Unmarshal(a.Data, &part)
		return part, err == nil && !part.Cut
	}
	answers, incomplete := n.desk.Ask(ctx, id, func(a inquiry.Answer) bool {
		part, _ := read(a)
		return one && len(part.Requests) > 0
	})
	for _, a := range answers {
		part, whole := read(a)
		if !whole {
			incomplete = append(incomplete, a.Node)
		}
		found = append(found, part.Requests...)
	}
	return found, incomplete
}
