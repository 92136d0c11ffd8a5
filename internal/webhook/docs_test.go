package webhook_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/webhook"
)

// The programs around the page's examples: each reads a secret, headers and a body, and prints "good" or fails.
const (
	aroundJS = `import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const { Webhook } = createRequire(process.argv[2] + "/")("standardwebhooks");
EXAMPLE
const one = JSON.parse(readFileSync(0, "utf8"));
verify(one.secret, one.headers, one.body);
console.log("good");
`
	aroundPython = `EXAMPLE
import sys
one = json.load(sys.stdin)
verify(one["secret"], one["headers"], one["body"].encode())
print("good")
`
	aroundGo = `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

EXAMPLE

func main() {
	var one struct {
		Secret, Body string
		Headers      map[string]string
	}
	_ = json.NewDecoder(os.Stdin).Decode(&one)
	h := http.Header{}
	for name, value := range one.Headers {
		h.Set(name, value)
	}
	if err := verify(one.Secret, h, []byte(one.Body)); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("good")
}
`
)

// TestExamples: each example of the page takes a request that is signed, with one secret or two, and refuses a changed one.
func TestExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Abs("../../test/npm/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		language, around, file, needs string
		command                       []string
	}{
		{"js", aroundJS, "verify.mjs", filepath.Join(modules, "standardwebhooks"), []string{"node", "FILE", modules}},
		{"python", aroundPython, "verify.py", "", []string{"python3", "FILE"}},
		{"go", aroundGo, "verify.go", "", []string{"go", "run", "FILE"}},
	} {
		t.Run(tt.language, func(t *testing.T) {
			t.Parallel()
			_, rest, _ := strings.Cut(string(page), "\n```"+tt.language+"\n")
			example, _, ok := strings.Cut(rest, "\n```\n")
			if !ok || example == "" {
				t.Fatal("the page has no example")
			}
			if _, err := exec.LookPath(tt.command[0]); err != nil {
				missing(t, tt.command[0])
			}
			if _, err := os.Stat(tt.needs); tt.needs != "" && err != nil {
				missing(t, tt.needs)
			}
			example = strings.Replace(example, `import { Webhook } from "standardwebhooks";`, "", 1)
			file := filepath.Join(t.TempDir(), tt.file)
			if err := os.WriteFile(file, []byte(strings.Replace(tt.around, "EXAMPLE", example, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			judgeExample(t, tt.command, file)
		})
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed", what)
	}
	t.Skipf("%s is not installed", what)
}

func judgeExample(t *testing.T, command []string, file string) {
	t.Helper()
	old, fresh := webhook.DeriveSecret(make([]byte, 32), "whe_1", 1), webhook.DeriveSecret(make([]byte, 32), "whe_1", 2)
	body := `{"type":"task.succeeded","data":{"metadata":{"name":"Zoë"}}}`
	for _, one := range []struct {
		body  string
		at    time.Time
		signs []webhook.Secret
		good  bool
	}{
		{body, time.Now(), []webhook.Secret{fresh, old}, true},
		{body + " ", time.Now(), []webhook.Secret{old}, false},
		{body, time.Now().Add(-time.Hour), []webhook.Secret{old}, false},
		{body, time.Now(), []webhook.Secret{fresh}, false},
	} {
		h := http.Header{}
		webhook.Sign(h, "task_1.0", one.at, []byte(body), one.signs...)
		headers := map[string]string{}
		for name := range h {
			headers[strings.ToLower(name)] = h.Get(name)
		}
		in, err := json.Marshal(map[string]any{"secret": old.Reveal(), "headers": headers, "body": one.body})
		if err != nil {
			t.Fatal(err)
		}
		args := append([]string{}, command...)
		for i, a := range args {
			args[i] = strings.Replace(a, "FILE", file, 1)
		}
		run := exec.CommandContext(t.Context(), args[0], args[1:]...)
		run.Stdin = strings.NewReader(string(in))
		out, err := run.CombinedOutput()
		if good := err == nil && strings.TrimSpace(string(out)) == "good"; good != one.good {
			t.Errorf("taken %v, want %v: %s", good, one.good, out)
		}
	}
}
