package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"unitask/docs"
	"unitask/test/fixture"
)

// typedClient is a program over a client that a generator makes of the document. In its text %s is the place of the
// creation, and the lines of faulty, each in its own program, don't compile.
type typedClient struct {
	tool, made string // the generator and its output
	args       []string
	module     string // whose functions the program uses
	create     string // one creation; %[1]d is its number and %[2]s its body
	faulty     []string
}

var typedClients = []typedClient{
	{
		tool: "openapi-typescript", made: "schema.ts", args: []string{"openapi.yaml", "-o", "schema.ts"},
		module: `import createClient from "openapi-fetch";
import type { paths, components } from "./schema";
type Task = components["schemas"]["Task"];
const client = createClient<paths>({ baseUrl: "http://127.0.0.1:8420", headers: { Authorization: "Bearer x" } });
const header = { "Idempotency-Key": "hello-0001" };
const read = await client.GET("/api/ai/v1/tasks/{task_id}", { params: { path: { task_id: "task_x" }, header: { Prefer: "wait=4" } } });
export const names: string[] | undefined = (await client.GET("/api/ai/v1/capabilities")).data?.data.map((c) => c.name);
export const code: string | undefined = read.error?.error.code;
export const task: Task | undefined = read.data;
`,
		create: "const made%[1]d = await client.POST(\"/api/ai/v1/tasks\", { params: { header }, body: %[2]s });\n" +
			"export const task%[1]d: Task | undefined = made%[1]d.data;\n",
		faulty: []string{`export const bad = await client.POST("/api/ai/v1/tasks", { params: { header }, body: { input: {} } });`},
	},
	{
		tool: "openapi-ts", made: "client", args: []string{"-i", "openapi.yaml", "-o", "client", "-c", "@hey-api/client-fetch", "--no-log-file"},
		module: `import { createTask, getTask, listCapabilities, type Task } from "./client";
import { client } from "./client/client.gen";
client.setConfig({ baseUrl: "http://127.0.0.1:8420", auth: () => "x" });
const headers = { "Idempotency-Key": "hello-0001" };
const read = await getTask({ path: { task_id: "task_x" }, headers: { Prefer: "wait=4" } });
export const names: string[] | undefined = (await listCapabilities()).data?.data.map((c) => c.name);
export const code: string | undefined = read.error?.error.code;
export const task: Task | undefined = read.data;
`,
		create: "const made%[1]d = await createTask({ headers, body: %[2]s });\n" +
			"export const task%[1]d: Task | undefined = made%[1]d.data;\n",
		faulty: []string{`export const bad = await createTask({ headers, body: { input: {} } });`},
	},
}

// outputs reads a task's output by its capability; wrongOutputs does it wrongly.
const (
	outputs = `export function said(t: Task): string | undefined {
  if (t.capability === "text.chat" || t.capability === "audio.transcribe") return t.output?.text;
  if (t.capability === "image.generate") return t.output?.images?.[0]?.url;
  return t.error?.message ?? t.usage?.cost.amount;
}
`
	wrongOutput = `export const wrong = (t: Task) => t.capability === "text.chat" ? t.output?.pictures : t.state === "done";`
)

// TestTypedClients has two generators make clients of the document, and the compiler judge programs that send the
// requests of the README and read the answers. A request without its capability, a member that no output has and a
// state that there isn't are errors.
func TestTypedClients(t *testing.T) {
	t.Parallel()
	compiler := npmTool(t, "tsc")
	modules := fixture.Must(filepath.Abs("../npm/node_modules"))(t)
	bodies := readmeBodies(t)
	for _, c := range typedClients {
		t.Run(c.tool, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, "openapi.yaml"), string(docs.OpenAPI))
			if out, err := tool(t, dir, npmTool(t, c.tool), c.args...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if _, err := os.Stat(filepath.Join(dir, c.made)); err != nil {
				t.Fatal(err)
			}
			program := c.module + outputs
			for i, body := range bodies {
				program += fmt.Sprintf(c.create, i, body)
			}
			writeFile(t, filepath.Join(dir, "readme.ts"), program)
			for i, line := range append(c.faulty, wrongOutput) {
				writeFile(t, filepath.Join(dir, fmt.Sprintf("faulty%d.ts", i)), c.module+line)
			}
			writeFile(t, filepath.Join(dir, "tsconfig.json"), `{"compilerOptions":{"noEmit":true,"strict":true,"skipLibCheck":true,
				"target":"es2022","module":"esnext","moduleResolution":"bundler","types":[],"lib":["es2022","dom","dom.iterable"]},"include":["*.ts"]}`)
			out, _ := tool(t, dir, compiler, "--project", dir) // the faulty ones fail it
			faults := map[string]int{}
			for line := range strings.Lines(out) {
				file, _, _ := strings.Cut(line, "(")
				switch {
				case strings.HasPrefix(file, "faulty"):
					faults[file]++
				case strings.Contains(line, "error TS"):
					t.Error(strings.TrimSpace(line))
				}
			}
			if faults["faulty0.ts"] != 1 || faults["faulty1.ts"] != 2 {
				t.Errorf("the faulty programs have %v faults:\n%s", faults, out)
			}
		})
	}
}

var readmeBody = regexp.MustCompile(`-d '(\{[^']*\})'`)

// readmeBodies returns the creations in the README.
func readmeBodies(t *testing.T) []string {
	t.Helper()
	var bodies []string
	for _, found := range readmeBody.FindAllStringSubmatch(string(fixture.Must(os.ReadFile("../../README.md"))(t)), -1) {
		bodies = append(bodies, found[1])
	}
	if len(bodies) < 2 {
		t.Fatalf("%d creations in the README", len(bodies))
	}
	return bodies
}

// tool runs a program of Node's in a folder.
func tool(t *testing.T, dir, path string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
