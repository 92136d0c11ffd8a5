package deploy_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChartRefuses: wrong values don't render, and the message says why.
func TestChartRefuses(t *testing.T) {
	helm := tool(t, "helm")
	for flag, want := range map[string]string{
		"--set=image.repository=": "image", "--set=database.existingSecret=": "existingSecret",
		"--set=settings.base_url=": "base_url", "--set=settings.artifacts=": "artifacts",
		"--set=settings.store=bolt":                                           "the chart decides this setting",
		"--set=settings.node_url=http://10.0.0.1:8420":                        "the chart decides this setting",
		"--set=nodeURL=10.0.0.1:8420":                                         "nodeURL",
		"--set=replica=4":                                                     "replica",
		"--set=terminationGracePeriodSeconds=30":                              "must be above 30",
		"--set=settings.limits.shutdown_grace=1m":                             "write seconds",
		"--set=metrics.serviceMonitor.enabled=true":                           "needs metrics.enabled",
		"--set=ingress.enabled=true":                                          "host",
		"--set-json=settings.suppliers=[{\"api_key\":\"sk-1\"}]":              "api_key",
		"--set-json=extraEnv=[{\"name\":\"GROQ_API_KEY\",\"value\":\"gsk\"}]": "extraEnv",
	} {
		out, err := exec.CommandContext(t.Context(), helm, "template", "ai", chart, kubeVersion, "--values", chart+"/ci/minimal-values.yaml", flag).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want a refusal with %q:\n%s", flag, err, want, out)
		}
	}
}

// TestChartLints runs helm's own checks with each values file.
func TestChartLints(t *testing.T) {
	helm := tool(t, "helm")
	for _, file := range valuesFiles(t) {
		output(t, helm, "lint", "--strict", "--quiet", chart, "--values", file)
	}
}

// TestChartIsAsTheBase: with the values of the plain manifests the chart makes the same pods.
func TestChartIsAsTheBase(t *testing.T) {
	all := built(t)
	pod := func(name string) object {
		spec := at(of(all[name], "Deployment")[0], "spec", "template", "spec").(object)
		return object{
			"grace": spec["terminationGracePeriodSeconds"], "security": spec["securityContext"],
			"ready": at(spec, "containers", 0, "readinessProbe"), "live": at(spec, "containers", 0, "livenessProbe"),
			"start": at(spec, "containers", 0, "startupProbe"), "lifecycle": at(spec, "containers", 0, "lifecycle"),
			"resources": at(spec, "containers", 0, "resources"), "mounts": at(spec, "containers", 0, "volumeMounts"),
			"replicas": at(of(all[name], "Deployment")[0], "spec", "replicas"),
			"strategy": at(of(all[name], "Deployment")[0], "spec", "strategy"),
		}
	}
	if diff := cmp.Diff(pod("base"), pod("minimal-values.yaml")); diff != "" {
		t.Errorf("(-base +chart):\n%s", diff)
	}
}

// TestEveryValueIsExplained: values.yaml and the schema have the same members, and each is written about.
func TestEveryValueIsExplained(t *testing.T) {
	values := documents(t, "values.yaml", mustRead(t, chart+"/values.yaml"))[0]
	var schema object
	if err := json.Unmarshal(mustRead(t, chart+"/values.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	members := func(o any) []string {
		var names []string
		for name := range o.(object) {
			if name != "global" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	if diff := cmp.Diff(members(values), members(schema["properties"])); diff != "" {
		t.Errorf("(-values +schema):\n%s", diff)
	}
	for name, v := range values {
		described := at(schema, "properties", name)
		if properties := at(described, "properties"); properties != nil && at(described, "additionalProperties") == false {
			if diff := cmp.Diff(members(v), members(properties)); diff != "" {
				t.Errorf("%s (-values +schema):\n%s", name, diff)
			}
		}
	}
}
