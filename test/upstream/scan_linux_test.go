package upstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"unitask/internal/api"
)

// scan looks for secrets from callers: the suppliers' names, kinds, models, hosts, jobs, keys and words.
func (s *service) scan(what string, h http.Header, body []byte) {
	s.t.Helper()
	var all bytes.Buffer
	_ = h.Write(&all)
	_, _ = all.Write(body)
	text := strings.ToLower(all.String())
	for _, secret := range s.secrets {
		if strings.Contains(text, strings.ToLower(secret)) {
			s.t.Errorf("%s shows %q: %.500s", what, secret, text)
		}
	}
}

// private are the secrets from operators too: keys, callers' inputs and outputs, and a supplier's own
// words.
func (s *service) private() []string {
	all := []string{supplierKey, s.key, strings.TrimPrefix(s.key, "svc_live_"), prompt, leak, words[0], theKey}
	if d := s.cell.dialect; d.private != "" {
		all = append(all, d.private, pictureText())
	}
	return all
}

func (s *service) scanPrivate(what, text string) {
	s.t.Helper()
	for _, secret := range s.private() {
		if strings.Contains(text, secret) {
			s.t.Errorf("%s shows %q: %.2000s", what, secret, text)
		}
	}
}

// scanLog looks at the log, and at the requests as they are counted and logged.
func (s *service) scanLog() {
	s.t.Helper()
	text := s.log.String()
	if !strings.Contains(text, `{"time"`) || !strings.Contains(text, "{ID:req_") {
		s.t.Error("nothing was logged, so nothing was looked at")
	}
	s.scanPrivate("the log", text)
}

// ledger returns the task as its operator reads it, and looks at all that an operator can read: metrics,
// the task, keys, accounts, usage and the suppliers' states.
func (s *service) ledger(id string) api.AdminTask {
	s.t.Helper()
	s.scanMetrics(id)
	for _, path := range []string{
		api.PathAdminKeys, api.PathAdminAccounts, api.PathAdminUsage, api.PathAdminSuppliers, api.PathAdminInfo, api.PathAdminArrivals,
	} {
		s.operate(path)
	}
	var ledger api.AdminTask
	if err := json.Unmarshal(s.operate(api.PathAdminTasks+"/"+id), &ledger); err != nil {
		s.t.Fatal(err)
	}
	s.ends.add(ledger)
	s.checkSums()
	return ledger
}

// scanMetrics looks at the metrics once they have counted the task's end. A task's id, a job's and a host's
// name are no labels.
func (s *service) scanMetrics(id string) {
	s.t.Helper()
	text := s.operate(api.PathMetrics)
	for !bytes.Contains(text, []byte("tasks_ended_total{")) {
		time.Sleep(time.Millisecond) // it is counted right after it is recorded
		text = s.operate(api.PathMetrics)
	}
	for _, label := range []string{jobID, id, s.fakes[0].api.address, s.fakes[0].files.address} {
		if bytes.Contains(text, []byte(label)) {
			s.t.Errorf("the metrics show %q", label)
		}
	}
	if got := s.call(http.MethodGet, api.PathMetrics, "", nil); got.status != http.StatusNotFound {
		s.t.Errorf("metrics on the API's listener: %d %.500s", got.status, got.body)
	}
}

// operate reads from the operator's socket. Metrics that take longer than a scrape may, beside so many cells on a slow
// machine, are asked for again.
func (s *service) operate(path string) []byte {
	s.t.Helper()
	ctx := context.WithoutCancel(s.t.Context()) // the metrics are read once the test is over, too
	var got *httptest.ResponseRecorder
	for end := time.Now().Add(longTime); got == nil || got.Code == http.StatusServiceUnavailable && time.Now().Before(end); {
		got = httptest.NewRecorder()
		s.Admin.ServeHTTP(got, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	}
	if got.Code != http.StatusOK {
		s.t.Fatalf("GET %s: %d %s", path, got.Code, got.Body)
	}
	s.scanPrivate(path, got.Body.String())
	return got.Body.Bytes()
}
