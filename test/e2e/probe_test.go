package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestConfigProbe: the line that config probe prints is one for the settings, with which the features are served.
func TestConfigProbe(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.Contains(string(body), "image_url"), strings.Contains(string(body), "file_data"), strings.Contains(string(body), "input_audio"):
			w.WriteHeader(http.StatusBadRequest)
		case strings.Contains(string(body), `"tools"`):
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"get_capital","arguments":"{}"}}]}}]}`)
		default:
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Stockholm."}}]}`)
		}
	}))
	defer srv.Close()
	h := newHost(t)
	settings := func(options string) string {
		return `suppliers: [{name: own, kind: openai, base_url: "` + srv.URL + `"` + options + "}]\n" +
			"routes: {text.chat: [{supplier: own, model: m, price: {unit: mtok, input: '0', output: '0'}}]}\n"
	}
	h.write("unitask.yaml", settings(""))
	o := h.client("config", "probe", "own", "--config", "unitask.yaml")
	if o.code != 0 || o.stdout != "features: tools\n" || !strings.Contains(o.stderr, "json_schema: no, it answers, but without it") ||
		!strings.Contains(o.stderr, "json_object: no, it answers, but without it") ||
		!strings.Contains(o.stderr, "images: no, it refuses the request (status 400)") {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	h.Config = settings(", options: {" + strings.TrimSpace(o.stdout) + "}")
	h.start()
	h.useLiveKey()
	if got := h.must("run", "text.chat", "Hi", `tools={"name":"get_capital"}`); !strings.Contains(got, `"name":"get_capital"`) {
		t.Errorf("printed %q", got)
	}
	if o := h.client("run", "text.chat", "Hi", "reasoning=low"); o.code == 0 || !strings.Contains(o.stderr, "parameters.reasoning") {
		t.Errorf("a feature that the server lacks: exit %d\n%s", o.code, o.stderr)
	}
	if o := h.client("config", "probe", "other", "--config", "unitask.yaml"); o.code != 2 || !strings.Contains(o.stderr, `no supplier "other" of the kind openai; they have own`) {
		t.Errorf("an unknown supplier: exit %d\n%s", o.code, o.stderr)
	}
}
