package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"unitask/internal/api"
)

// writeCurl prints the request as a command for a POSIX shell. The key is named, never shown.
func writeCurl(w io.Writer, baseURL, idempotencyKey string, req api.CreateRequest) error {
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `curl -sS %s \
  -H "Authorization: Bearer $UNITASK_API_KEY" \
  -H 'Content-Type: application/json' \
  -H %s \
  -d %s
`, quoted(baseURL+api.PathTasks), quoted(api.HeaderIdempotencyKey+": "+idempotencyKey), quoted(string(body)))
	return err
}

// quoted makes one word of any text for a POSIX shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
