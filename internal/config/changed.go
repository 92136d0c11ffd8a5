package config

import (
	"reflect"
	"slices"
)

// fixed are the settings that hold from the start to the end of a server.
var fixed = []string{
	"listen", "metrics_listen", "base_url", "node_url", "data_dir", "store", "artifacts", "key_prefix", "media_allow", "trusted_proxies", "operator_api", "mcp_http", "doors", "webhooks", "webhook_http", "webhook_allow",
	"limits.database", "limits.connections", "limits.connections_per_address", "limits.refused_keys", "limits.body_memory", "limits.body_disk", "limits.work_memory", "limits.url_ttl", "limits.lease", "limits.request_log", "limits.request_log_age",
}

// Changed returns the settings in which now differs from old, such as "routes" and "limits.queue": those
// that a running server takes up, and those that take a restart.
func Changed(old, now Config) (live, restart []string) {
	for _, name := range differing("", reflect.ValueOf(old), reflect.ValueOf(now)) {
		if slices.Contains(fixed, name) {
			restart = append(restart, name)
		} else {
			live = append(live, name)
		}
	}
	return live, restart
}

// Keep returns now with old's values of the settings that take a restart.
func Keep(old, now Config) Config {
	now.Listen, now.MetricsListen, now.BaseURL, now.DataDir = old.Listen, old.MetricsListen, old.BaseURL, old.DataDir
	now.NodeURL = old.NodeURL
	now.Store, now.Artifacts, now.KeyPrefix, now.MediaAllow = old.Store, old.Artifacts, old.KeyPrefix, old.MediaAllow
	now.Limits.Database, now.Limits.Connections, now.Limits.URLTTL = old.Limits.Database, old.Limits.Connections, old.Limits.URLTTL
	now.TrustedProxies, now.OperatorAPI, now.MCPHTTP, now.Doors = old.TrustedProxies, old.OperatorAPI, old.MCPHTTP, old.Doors
	now.Webhooks, now.WebhookHTTP, now.WebhookAllow = old.Webhooks, old.WebhookHTTP, old.WebhookAllow
	now.Limits.PerAddress, now.Limits.RefusedKeys = old.Limits.PerAddress, old.Limits.RefusedKeys
	now.Limits.BodyMemory, now.Limits.BodyDisk = old.Limits.BodyMemory, old.Limits.BodyDisk
	now.Limits.WorkMemory, now.Limits.Lease = old.Limits.WorkMemory, old.Limits.Lease
	now.Limits.RequestLog, now.Limits.RequestLogAge = old.Limits.RequestLog, old.Limits.RequestLogAge
	return now
}

func differing(path string, old, now reflect.Value) []string {
	var names []string
	for i := range old.NumField() {
		name := join(path, settingName(old.Type().Field(i)))
		switch a, b := old.Field(i), now.Field(i); {
		case name == "limits":
			names = append(names, differing(name, a, b)...)
		case !reflect.DeepEqual(a.Interface(), b.Interface()):
			names = append(names, name)
		}
	}
	return names
}
