package snippet

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/api"
	"unitask/internal/form"
)

// inlineBytes is how much of base64 code shows; more stands for a file.
const (
	inlineBytes = 256
	standsFor   = "BASE64 OF THE FILE"
)

// Short returns the request with long media replaced by placeholders, and whether there are any.
func Short(req api.CreateRequest) (api.CreateRequest, bool, error) {
	input, err := decode[any](req.Input)
	if err != nil {
		return req, false, err
	}
	cut := shorten(input)
	if cut {
		req.Input = json.RawMessage(compact(input))
	}
	return req, cut, nil
}

func shorten(value any) (cut bool) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			cut = shorten(item) || cut
		}
	case map[string]any:
		data, ok := v["data"].(string)
		_, typed := v["content_type"]
		name, named := strings.CutPrefix(data, form.PrefixFile)
		switch {
		case ok && typed && named:
			v["data"] = "BASE64 OF " + name
			return true
		case ok && typed && len(data) > inlineBytes:
			v["data"] = standsFor
			return true
		}
		for _, item := range v {
			cut = shorten(item) || cut
		}
	}
	return cut
}

const pythonCode = `import json, os, random, time, urllib.request, uuid

TASKS = $URL
BODY = $BODY

def call(url, body=None, **headers):
    headers["Authorization"] = "Bearer " + os.environ["UNITASK_API_KEY"]
    request = urllib.request.Request(url, body and json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

task = call(TASKS, BODY, **{"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())})
while task["state"] not in ("succeeded", "failed", "canceled"):
    time.sleep(random.uniform(2, 5))
    task = call(TASKS + "/" + task["id"])
print(json.dumps(task["output"] or task["error"], indent=2))
`

// Python writes a program of Python's own library that runs the request and prints its output.
func Python(baseURL string, req api.CreateRequest) (string, error) {
	body, err := value(req)
	if err != nil {
		return "", err
	}
	words := literals{"True", "False", "None"}
	return fill(pythonCode, "$URL", text(baseURL+api.PathTasks), "$BODY", words.write(body, "", "    ")), nil
}

const javaScriptCode = `import { randomUUID } from "node:crypto";

const tasks = $URL;
const body = $BODY;
const Authorization = "Bearer " + process.env.UNITASK_API_KEY;

async function call(url, options = {}) {
  const answer = await fetch(url, { ...options, headers: { Authorization, ...options.headers } });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

let task = await call(tasks, {
  method: "POST",
  headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
  body: JSON.stringify(body),
});
while (!["succeeded", "failed", "canceled"].includes(task.state)) {
  await new Promise((next) => setTimeout(next, 2000 + 3000 * Math.random()));
  task = await call(tasks + "/" + task.id);
}
console.log(JSON.stringify(task.output ?? task.error, null, 2));
`

// JavaScript writes a module for Node that runs the request and prints its output.
func JavaScript(baseURL string, req api.CreateRequest) (string, error) {
	body, err := value(req)
	if err != nil {
		return "", err
	}
	words := literals{"true", "false", "null"}
	return fill(javaScriptCode, "$URL", text(baseURL+api.PathTasks), "$BODY", words.write(body, "", "  ")), nil
}

const goCode = `package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	tasks = $URL
	body  = $BODY
)

type task struct {
	ID, State     string
	Output, Error json.RawMessage
}

func main() {
	t := call(http.MethodPost, tasks, body)
	for t.State != "succeeded" && t.State != "failed" && t.State != "canceled" {
		time.Sleep(3 * time.Second)
		t = call(http.MethodGet, tasks+"/"+t.ID, "")
	}
	fmt.Println(string(t.Output), string(t.Error))
}

func call(method, url, body string) (t task) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("UNITASK_API_KEY"))
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", rand.Text())
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		log.Fatal(string(raw))
	}
	if err != nil || json.Unmarshal(raw, &t) != nil {
		log.Fatal(err)
	}
	return t
}
`

// Go writes a program of Go's own library that runs the request and prints its output.
func Go(baseURL string, req api.CreateRequest) (string, error) {
	body, err := value(req)
	if err != nil {
		return "", err
	}
	words := literals{"true", "false", "null"}
	written := words.write(body, "", "  ")
	literal := "`" + written + "`"
	if !strconv.CanBackquote(strings.ReplaceAll(written, "\n", "")) {
		literal = strconv.Quote(written)
	}
	return fill(goCode, "$URL", strconv.Quote(baseURL+api.PathTasks), "$BODY", literal), nil
}

// fill puts texts in the places of names, each once: no part of a text is taken for a name.
func fill(code, url, urlText, body, bodyText string) string {
	return strings.NewReplacer(url, urlText, body, bodyText).Replace(code)
}

// value reads the whole request as a value, its numbers as they are written.
func value(req api.CreateRequest) (any, error) {
	raw, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	return decode[any](raw)
}

// literals are a language's words for true, false and null; the rest of JSON is written alike in all.
type literals [3]string

// write writes a value with its members in the alphabet's order.
func (l literals) write(v any, indent, by string) string {
	deeper := indent + by
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			lines = append(lines, deeper+text(name)+": "+l.write(v[name], deeper, by))
		}
		return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, l.write(item, indent, by))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case bool:
		if v {
			return l[0]
		}
		return l[1]
	case nil:
		return l[2]
	case string:
		return text(v)
	default:
		return compact(v)
	}
}

// text writes a text as JSON does, which is how the three languages read one too: characters outside of the first
// plane stay as they are.
func text(s string) string { return compact(s) }
