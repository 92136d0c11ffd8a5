package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"unitask/test/harness"
	"unitask/test/model/gguf"
)

const modelName = "tiny-of-the-test"

// ollama is a running model server, apart from another one on this machine.
type ollama struct {
	t      *testing.T
	binary string
	dir    string
	base   string
	env    []string
}

// startOllama starts one that has the generated model.
func startOllama(t *testing.T) *ollama {
	t.Helper()
	binary := os.Getenv(variable)
	if binary == "" {
		t.Skip("needs a built Ollama: run `make e2e-model` (minutes, the first time)")
	}
	address, dir := harness.FreeAddress(t), t.TempDir()
	o := &ollama{t: t, binary: binary, dir: dir, base: "http://" + address, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir,
		"OLLAMA_HOST=" + address, "OLLAMA_MODELS=" + filepath.Join(dir, "models"), "OLLAMA_NO_CLOUD=1",
	}}
	start(t, "ollama", o.base+"/api/version", o.env, binary, "serve")
	o.create()
	return o
}

// create writes the generated model and gives it to the server. Its own limit of tokens bounds an
// answer for which the caller's is lost.
func (o *ollama) create() {
	o.t.Helper()
	modelfile := fmt.Sprintf("FROM ./model.gguf\nPARAMETER num_predict %d\nPARAMETER num_ctx 512\n", unasked)
	for name, content := range map[string][]byte{"model.gguf": gguf.Model(1), "Modelfile": []byte(modelfile)} {
		if err := os.WriteFile(filepath.Join(o.dir, name), content, 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	output(o.t, answerLimit, o.env, o.binary, "create", modelName, "-f", filepath.Join(o.dir, "Modelfile"))
}
