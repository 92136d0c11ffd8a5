package upstream_test

import (
	"bytes"
	"net/http"
	"strings"
)

// scan looks for what no caller may see: the suppliers' names, kinds, models, hosts, jobs, keys and words.
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

// scanLog looks for what not even the operator's log may hold: keys, what the caller asked for and what a
// supplier wrote.
func (s *service) scanLog() {
	text := s.log.String()
	if !strings.Contains(text, "{") {
		s.t.Error("nothing was logged, so nothing was looked at")
	}
	for _, secret := range []string{sellerKey, s.key, prompt, leak} {
		if strings.Contains(text, secret) {
			s.t.Errorf("the log shows %q: %.2000s", secret, text)
		}
	}
}
