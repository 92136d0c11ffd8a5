package deploy_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/config"
)

const chart = "helm/unitask"

// kubeVersion is the oldest that the chart takes; helm knows none by itself, built as it is here.
const kubeVersion = "--kube-version=1.30.0"

// secured is what each container may not do.
var secured = object{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": object{"drop": []any{"ALL"}}}

// built returns the manifests of every way to deploy, by its name.
func built(t *testing.T) map[string][]object {
	t.Helper()
	found := map[string][]object{}
	kustomize := tool(t, "kustomize")
	for _, name := range []string{"base", "monitoring"} {
		found[name] = documents(t, name, output(t, kustomize, "build", "kubernetes/"+name))
	}
	helm := tool(t, "helm")
	for _, file := range valuesFiles(t) {
		found[filepath.Base(file)] = documents(t, file, output(t, helm, "template", "ai", chart, kubeVersion, "--namespace", "unitask", "--values", file))
	}
	return found
}

func valuesFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(chart + "/ci/*-values.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d values files, %v, want at least 3", len(files), err)
	}
	return files
}

// of returns the objects of a kind.
func of(manifests []object, kind string) []object {
	var found []object
	for _, m := range manifests {
		if m["kind"] == kind {
			found = append(found, m)
		}
	}
	return found
}

// TestManifestsFit holds all manifests against Kubernetes' own description of its objects. A ServiceMonitor is none of
// them; TestMonitoring looks at it.
func TestManifestsFit(t *testing.T) {
	module(t, "kubernetes-models/package.json")
	node := tool(t, "node")
	check := func(manifests []object) ([]byte, error) {
		file := filepath.Join(t.TempDir(), "manifests.json")
		b, err := json.Marshal(manifests)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.CommandContext(t.Context(), node, "testdata/manifests.cjs", modules, file).CombinedOutput()
	}
	var all []object
	for _, manifests := range built(t) {
		for _, m := range manifests {
			if m["kind"] != "ServiceMonitor" {
				all = append(all, m)
			}
		}
	}
	if len(all) < 30 {
		t.Fatalf("%d manifests, want at least 30", len(all))
	}
	if out, err := check(all); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for problem, spec := range map[string]object{"selecter": {"selecter": object{}}, "spec/type": {"type": "Cluster"}} {
		wrong := object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "wrong"}, "spec": spec}
		if out, err := check([]object{wrong}); err == nil || !bytes.Contains(out, []byte(problem)) {
			t.Errorf("%v passed: %v\n%s", spec, err, out)
		}
	}
}

// TestDeployments asserts of each deployment the fields by which a node is stopped, watched and confined.
func TestDeployments(t *testing.T) {
	for name, manifests := range built(t) {
		deployments := of(manifests, "Deployment")
		if len(deployments) != 1 {
			t.Fatalf("%s: %d deployments", name, len(deployments))
		}
		spec := at(deployments[0], "spec", "template", "spec").(object)
		main := at(spec, "containers", 0)
		want := object{
			"pod": object{
				"runAsNonRoot": true, "runAsUser": 65532.0, "runAsGroup": 65532.0, "fsGroup": 65532.0,
				"fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": object{"type": "RuntimeDefault"},
			},
			"container": secured, "token": false, "links": false,
			"ready": "/readyz", "live": "/healthz", "started": "/healthz",
		}
		got := object{
			"pod": spec["securityContext"], "container": at(main, "securityContext"),
			"token": spec["automountServiceAccountToken"], "links": spec["enableServiceLinks"],
			"ready":   at(main, "readinessProbe", "httpGet", "path"),
			"live":    at(main, "livenessProbe", "httpGet", "path"),
			"started": at(main, "startupProbe", "httpGet", "path"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		set := settingsOf(t, name, manifests)
		sleep, _ := at(main, "lifecycle", "preStop", "sleep", "seconds").(float64)
		grace, _ := spec["terminationGracePeriodSeconds"].(float64)
		if least := sleep + (time.Duration(set.Limits.ShutdownGrace) + drain).Seconds(); sleep < 1 || grace <= least {
			t.Errorf("%s: %v s of grace and a sleep of %v s, want more than %v", name, grace, sleep, least)
		}
		if at(main, "resources", "limits", "memory") == nil || len(spec["topologySpreadConstraints"].([]any)) != 2 {
			t.Errorf("%s: no limit of memory, or not spread: %v", name, main)
		}
		for _, v := range spec["volumes"].([]any) {
			if folder := at(v, "emptyDir"); folder != nil && at(folder, "sizeLimit") == nil {
				t.Errorf("%s: volume %v without a limit", name, at(v, "name"))
			}
		}
		rolling := at(deployments[0], "spec", "strategy", "rollingUpdate")
		if kind := at(deployments[0], "spec", "strategy", "type"); kind == "RollingUpdate" && at(rolling, "maxUnavailable") != 0.0 {
			t.Errorf("%s: %v", name, rolling)
		}
	}
}

// TestNodesReachEachOther: each pod tells the others its own address, after the variable that it is made of, and the
// network policy lets the pods ask each other.
func TestNodesReachEachOther(t *testing.T) {
	for name, manifests := range built(t) {
		var own []any
		for _, e := range at(of(manifests, "Deployment")[0], "spec", "template", "spec", "containers", 0, "env").([]any) {
			switch at(e, "name") {
			case "POD_IP":
				own = append(own, at(e, "valueFrom", "fieldRef", "fieldPath"))
			case "UNITASK_NODE_URL":
				own = append(own, at(e, "value"))
			}
		}
		if diff := cmp.Diff([]any{"status.podIP", "http://$(POD_IP):8420"}, own); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, policy := range of(manifests, "NetworkPolicy") {
			selector := at(policy, "spec", "podSelector")
			for direction, peers := range map[string]string{"ingress": "from", "egress": "to"} {
				rules, restricted := at(policy, "spec", direction).([]any)
				if restricted && !slices.ContainsFunc(rules, func(rule any) bool {
					from, some := at(rule, peers).([]any)
					return at(rule, "ports", 0, "port") == "api" && (!some || slices.ContainsFunc(from, func(peer any) bool {
						return cmp.Equal(at(peer, "podSelector"), selector)
					}))
				}) {
					t.Errorf("%s: %s lets the pods ask each other by none of %v", name, direction, rules)
				}
			}
		}
	}
}

// settingsOf returns the settings that all nodes have: those of the one ConfigMap that the deployment mounts.
func settingsOf(t *testing.T, name string, manifests []object) config.Config {
	t.Helper()
	maps := of(manifests, "ConfigMap")
	mounted := at(of(manifests, "Deployment")[0], "spec", "template", "spec", "volumes", 0, "configMap", "name")
	if len(maps) != 1 || at(maps[0], "metadata", "name") != mounted {
		t.Fatalf("%s: %d config maps, and %v is mounted", name, len(maps), mounted)
	}
	text, _ := at(maps[0], "data", "unitask.yaml").(string)
	set := settings(t, []byte(text))
	if set.OneNode() || set.Artifacts == "file" || set.Listen != "0.0.0.0:8420" {
		t.Errorf("%s: store %s, artifacts %s, listen %s", name, set.Store, set.Artifacts, set.Listen)
	}
	return set
}

// TestSecretsAreReferences: no manifest makes a secret or has one in a variable, and what the settings name as a
// variable is set by a reference.
func TestSecretsAreReferences(t *testing.T) {
	for name, manifests := range built(t) {
		if made := of(manifests, "Secret"); len(made) > 0 {
			t.Errorf("%s makes %d secrets", name, len(made))
		}
		variables := map[string]bool{}
		for _, e := range at(of(manifests, "Deployment")[0], "spec", "template", "spec", "containers", 0, "env").([]any) {
			variable := at(e, "name").(string)
			variables[variable] = at(e, "valueFrom", "secretKeyRef", "name") != nil
			for _, word := range []string{"KEY", "SECRET", "PASSWORD", "DATABASE"} {
				if strings.Contains(variable, word) && !variables[variable] {
					t.Errorf("%s: %s isn't a reference", name, variable)
				}
			}
		}
		if set := settingsOf(t, name, manifests); !variables[strings.TrimPrefix(set.Store, "env:")] {
			t.Errorf("%s: the store is %s, and no secret sets it", name, set.Store)
		}
	}
}

// TestSelectors: services, budgets, policies and constraints select the pods that the deployment makes, and no pod of
// helm test.
func TestSelectors(t *testing.T) {
	for name, manifests := range built(t) {
		pod, _ := at(of(manifests, "Deployment")[0], "spec", "template", "metadata", "labels").(object)
		selectors := 0
		for _, m := range manifests {
			var selector any
			switch m["kind"] {
			case "Service":
				selector = at(m, "spec", "selector")
			case "PodDisruptionBudget", "Deployment":
				selector = at(m, "spec", "selector", "matchLabels")
			case "NetworkPolicy":
				selector = at(m, "spec", "podSelector", "matchLabels")
			default:
				continue
			}
			selectors++
			if s, _ := selector.(object); len(s) == 0 || !selects(s, pod) {
				t.Errorf("%s: %v %v selects %v", name, m["kind"], at(m, "metadata", "name"), selector)
			}
			for _, p := range of(manifests, "Pod") {
				if labels, _ := at(p, "metadata", "labels").(object); selects(selector.(object), labels) {
					t.Errorf("%s: %v selects the test's pod", name, m["kind"])
				}
			}
		}
		if selectors < 2 {
			t.Errorf("%s: %d selectors", name, selectors)
		}
		for _, p := range of(manifests, "Pod") {
			if diff := cmp.Diff(any(secured), at(p, "spec", "containers", 0, "securityContext")); diff != "" {
				t.Errorf("%s, the test's pod (-want +got):\n%s", name, diff)
			}
		}
	}
}

func selects(selector, labels object) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// TestMonitoring: a ServiceMonitor finds the one Service with the port that it names, and nodes serve it.
func TestMonitoring(t *testing.T) {
	found := 0
	for name, manifests := range built(t) {
		for _, m := range of(manifests, "ServiceMonitor") {
			found++
			var services []object
			for _, s := range of(manifests, "Service") {
				labels, _ := at(s, "metadata", "labels").(object)
				if selects(at(m, "spec", "selector", "matchLabels").(object), labels) {
					services = append(services, s)
				}
			}
			if len(services) != 1 || at(services[0], "spec", "ports", 0, "name") != at(m, "spec", "endpoints", 0, "port") {
				t.Errorf("%s: the monitor finds %v", name, services)
			}
			if set := settingsOf(t, name, manifests); set.MetricsListen != "0.0.0.0:9420" {
				t.Errorf("%s: metrics at %q", name, set.MetricsListen)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d monitors, want 2", found)
	}
}
