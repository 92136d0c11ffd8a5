package wire_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"unitask/internal/supplier/wire"
)

// TestAnswerSizes: an answer of whatever length comes whole, and one that claims its length takes no more memory.
func TestAnswerSizes(t *testing.T) {
	const whole = 3 << 20
	text := strings.Repeat("0123456789abcde\n", whole/16)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		if r.URL.Path == "/claimed" {
			w.Header().Set("Content-Length", strconv.Itoa(n))
		} else {
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, text[:n])
	}))
	defer srv.Close()
	c := newClient(t, wire.Config{BaseURL: srv.URL})
	for _, path := range []string{"/claimed", "/unclaimed"} {
		for _, n := range []int{0, 1, 511, 512, 513, 1 << 20, 1<<20 + 1, whole} {
			answer, err := c.Do(t.Context(), wire.Call{Method: http.MethodGet, Path: path + "?n=" + strconv.Itoa(n)})
			if err != nil || string(answer.Body) != text[:n] {
				t.Errorf("%s: %d bytes of %d, %v", path, len(answer.Body), n, err)
			}
			if path == "/claimed" && n <= 1<<20 && cap(answer.Body) != n+1 {
				t.Errorf("%d bytes take the memory of %d", n, cap(answer.Body))
			}
		}
	}
}
