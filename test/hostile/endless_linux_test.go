package hostile_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/test/harness"
)

// TestEndlessBodies: a sender that announces a body of a gigabyte, or sends one in endless chunks, is told that it is
// too large, and costs the server no memory and others no answers.
func TestEndlessBodies(t *testing.T) {
	s := harness.NewServer(t)
	s.Config = "limits: {creates_per_minute: 0}\n"
	s.Start()
	o := order{Keys: attackers(s), Times: 4}
	if long(t) {
		o.Times = 128
	}
	held(t, s, fmt.Sprintf("%d bodies of 1 GB", o.Times), func(o order) {
		var statuses map[int]int
		attack(t, s, "endless", o, &statuses)
		t.Logf("answers: %v", statuses)
		if statuses[http.StatusRequestEntityTooLarge] == 0 {
			t.Error("nobody was told that the body is too large")
		}
		refusedAlone(t, statuses, http.StatusRequestEntityTooLarge)
	}, o, 2)
}

// gigabyte is how long an endless body goes on.
const gigabyte = 1 << 30

// attackEndlessly sends so many bodies at once, half of them in chunks, and returns the answers' statuses.
func attackEndlessly(o order) any {
	return count(o.Times, func(n int) int { return endless(o.Target, o.Keys[n%len(o.Keys)], n%2 == 0) })
}

// endless sends a creation of a gigabyte, in chunks or with its length announced, until the answer is there, and returns
// its status.
func endless(target, key string, chunked bool) int {
	conn, err := net.Dial("tcp", target) //nolint:noctx // it has a deadline
	if err != nil {
		return broken
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	go func() {
		length, piece := fmt.Sprintf("Content-Length: %d", gigabyte), strings.Repeat("a", 64<<10)
		if chunked {
			length, piece = "Transfer-Encoding: chunked", "10000\r\n"+piece+"\r\n"
		}
		_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nIdempotency-Key: endless-key\r\n%s\r\n\r\n",
			api.PathTasks, key, length)
		for sent := 0; err == nil && sent < gigabyte; sent += 64 << 10 {
			err = upload(conn, piece)
		}
	}()
	return statusOf(conn)
}
