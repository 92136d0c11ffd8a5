package config

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/task"
)

// check completes c and reports contradictions.
func (r *report) check(c *Config, known Sources, directory *catalog.Catalog) {
	r.checkListen(c)
	if c.DataDir == "" {
		r.add("data_dir", "must not be empty", "")
	}
	r.checkStore(c.Store)
	r.checkArtifacts(c.Artifacts)
	if !account.ValidKeyPrefix(c.KeyPrefix) {
		r.add("key_prefix", "must be "+account.KeyPrefixForm, "")
	}
	r.checkHosts("media_allow", c.MediaAllow)
	r.checkHosts("webhook_allow", c.WebhookAllow)
	for i, text := range c.TrustedProxies {
		if _, err := parseNetwork(text); err != nil {
			r.add(elementOf("trusted_proxies", i), "must be an address or a CIDR", "for example 10.0.0.0/8")
		}
	}
	for i, name := range c.Doors {
		if doors := []string{DoorOpenAI, DoorAnthropic}; !slices.Contains(doors, name) {
			r.add(elementOf("doors", i), "names no door", oneOf(name, doors))
		}
	}
	r.checkDoorModels(c.DoorModels, directory)
	r.checkUsageMetadata(c.UsageMetadata)
	r.checkLimits(c.Limits)
	for _, name := range slices.Sorted(maps.Keys(c.Deadlines)) {
		if r.known(join("deadlines", string(name)), name, directory); c.Deadlines[name] < Duration(time.Second) {
			r.add(join("deadlines", string(name)), "must be 1s or more", "")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Prices)) {
		r.known(join("prices", string(name)), name, directory)
		r.checkPriceFor(join("prices", string(name)), c.Prices[name], directory.Base(name))
	}
	suppliers := r.checkSuppliers(c.Suppliers, known.Kinds)
	for _, name := range slices.Sorted(maps.Keys(c.Routes)) {
		r.known(join("routes", string(name)), name, directory)
		r.checkRoutes(name, directory.Base(name), c.Routes[name], suppliers, known.Kinds)
		r.checkOutput(name, c.Routes[name], suppliers, known, directory)
	}
	r.checkPolicy(c, known.Moderators, directory)
}

func (r *report) checkListen(c *Config) {
	if c.MetricsListen != "" {
		r.hostPort("metrics_listen", c.MetricsListen, "for example 127.0.0.1:9420")
	}
	host, port, ok := r.hostPort("listen", c.Listen, "for example 127.0.0.1:8420")
	if !ok {
		return
	}
	if c.BaseURL == "" {
		if addr, err := netip.ParseAddr(host); host == "" || (err == nil && addr.IsUnspecified()) {
			host = "127.0.0.1"
		}
		c.BaseURL = "http://" + net.JoinHostPort(host, port)
	}
	if !validAddress(c.BaseURL) {
		r.add("base_url", "must be an http or https address without query and user", "for example https://ai.example.org")
	}
	if c.NodeURL != "" && !validAddress(c.NodeURL) {
		r.add("node_url", "must be an http or https address without query and user", "for example http://10.0.0.3:8420")
	}
}

// hostPort splits an address to listen on.
func (r *report) hostPort(name, address, example string) (host, port string, ok bool) {
	host, port, err := net.SplitHostPort(address)
	if n, nan := strconv.Atoi(port); err != nil || nan != nil || n < 0 || n > 65535 {
		r.add(name, "must be host:port", example)
		return "", "", false
	}
	return host, port, true
}

// leastDatabase leaves room for the tasks that were accepted to end.
const leastDatabase = 16 << 20

// leastRequestLog holds some thousand requests.
const leastRequestLog = 1 << 20

func (r *report) checkLimits(l Limits) {
	atLeast := func(name string, got Duration, least time.Duration) {
		if time.Duration(got) < least {
			r.add("limits."+name, "must be "+least.String()+" or more", "")
		}
	}
	atLeast("sync_wait", l.SyncWait, time.Second)
	atLeast("place_wait", l.PlaceWait, time.Millisecond)
	atLeast("shutdown_grace", l.ShutdownGrace, time.Second)
	atLeast("lease", l.Lease, 3*time.Second)
	atLeast("retention", l.Retention, time.Minute)
	atLeast("artifact_ttl", l.ArtifactTTL, time.Minute)
	atLeast("url_ttl", l.URLTTL, 2*time.Second)
	atLeast("usage", l.Usage, 32*24*time.Hour) // a month's budget can be told from it
	atLeast("request_log_age", l.RequestLogAge, time.Hour)
	if l.RequestLog != 0 && l.RequestLog < leastRequestLog {
		r.add("limits.request_log", "must be 1MiB or more, or 0 for none", "")
	}
	if l.Database != 0 && l.Database < leastDatabase {
		r.add("limits.database", "must be 16MiB or more, or 0 for no limit", "")
	}
	if time.Duration(l.SyncWait) > time.Minute {
		r.add("limits.sync_wait", "must be 1m or less", "")
	}
}

// checkSuppliers returns the suppliers by name.
func (r *report) checkSuppliers(suppliers []Supplier, kinds map[string][]string) map[string]Supplier {
	byName := map[string]Supplier{}
	for i, s := range suppliers {
		path := elementOf("suppliers", i)
		if s.Name == "" || strings.ContainsAny(s.Name, "/ \t\n\x00") {
			r.add(path+".name", "must be a word without slashes", "")
		}
		if _, twice := byName[s.Name]; twice {
			r.add(path+".name", "names a second supplier "+strconv.Quote(s.Name), "")
		}
		byName[s.Name] = s
		if _, ok := kinds[s.Kind]; !ok {
			r.add(path+".kind", "is no kind of supplier", oneOf(s.Kind, slices.Sorted(maps.Keys(kinds))))
		}
		if !validAddress(s.BaseURL) {
			r.add(path+".base_url", "must be an http or https address without query and user", "")
		}
		if s.Timeout != 0 && s.Timeout < Duration(time.Millisecond) {
			r.add(path+".timeout", "must be 1ms or more", "")
		}
		r.checkHosts(path+".result_hosts", s.ResultHosts)
		r.checkProxy(path, s)
	}
	return byName
}

// checkOutput refuses routes of a capability whose output no result of their suppliers can be: each task would be paid
// and fail.
func (r *report) checkOutput(name catalog.Name, routes []Route, suppliers map[string]Supplier, known Sources, directory *catalog.Catalog) {
	entry, ok := directory.Get(name)
	problem := entry.Unfillable()
	if !ok || problem == "" {
		return
	}
	for i, route := range routes {
		s := suppliers[route.Supplier]
		chats := len(s.Models) > 0 && known.Kinds[s.Kind] != nil // by maps of a kind that has none of its own
		if !chats && !slices.Contains(known.AnyOutput, s.Kind) {
			r.add(elementOf(join("routes", string(name)), i), "can't fill the capability's output: its schema "+problem, "results of "+strings.Join(known.AnyOutput, ", ")+", and of chats by maps, can fill any")
			return
		}
	}
}

// checkProxy keeps a proxy's password out of the file. An address with one isn't repeated.
func (r *report) checkProxy(path string, s Supplier) {
	u, err := url.Parse(s.Options["proxy"])
	if err != nil {
		r.add(path+".options.proxy", "is no URL", "for example http://user@proxy.example.org:3128")
		return
	}
	if _, has := u.User.Password(); has {
		r.add(path+".options.proxy", "holds a password", "write the user alone, http://user@host:port, and proxy_password: env:NAME")
	}
	if !s.ProxyPassword.IsZero() && u.User.Username() == "" {
		r.add(path+".proxy_password", "is for a proxy whose address names a user", "options: {proxy: http://user@host:port}")
	}
}

// checkRoutes checks the routes of a capability whose work is that of base.
func (r *report) checkRoutes(name, base catalog.Name, routes []Route, suppliers map[string]Supplier, kinds map[string][]string) {
	seen := map[string]bool{}
	for i, route := range routes {
		path := elementOf(join("routes", string(name)), i)
		s, ok := suppliers[route.Supplier]
		if !ok {
			r.add(path+".supplier", "names no supplier", oneOf(route.Supplier, slices.Sorted(maps.Keys(suppliers))))
		} else if served, known := kinds[s.Kind]; known && served != nil && len(s.Models) == 0 && !slices.Contains(served, string(base)) {
			r.add(path+".supplier", "can't serve "+string(base), "its kind serves "+strings.Join(served, ", "))
		}
		if route.Model == "" {
			r.add(path+".model", "is required", "")
		}
		if id := route.Supplier + "/" + route.Model; seen[id] {
			r.add(path, "stands twice", "")
		} else {
			seen[id] = true
		}
		r.checkPriceFor(path+".price", route.Price, base)
		if len(route.Voices) > 0 && base != catalog.AudioSpeech {
			r.add(path+".voices", "belong to routes of audio.speech", "")
		}
	}
}

// checkPriceFor also refuses a unit in which work of the capability, the base of a tier, isn't counted.
func (r *report) checkPriceFor(path string, p Price, name catalog.Name) {
	r.checkPrice(path, p)
	if unit := task.Unit(p.Unit); unit != "" && !unit.Measures(string(name)) {
		r.add(path+".unit", "is none that "+string(name)+" is counted in", "with it the work would be free")
	}
	for _, rate := range p.rates() {
		if rate.unit != task.PerMillionTokens && !rate.unit.Beside(string(name)) {
			r.add(path+"."+rate.name, "is nothing that "+string(name)+" is counted in", "with it the work would be free")
		}
	}
}

func (r *report) checkPrice(path string, p Price) {
	if p.Unit == "" {
		r.add(path, "is required, with its unit", `for example {unit: mtok, input: "0.05", output: "0.08"}; for free work {unit: mtok}`)
	}
	for _, rate := range p.rates() {
		switch unit := task.Unit(p.Unit); {
		case rate.unit == unit && unit != task.PerMillionTokens:
			r.add(path+"."+rate.name, "is the price's own unit", "write it as input or output")
		case rate.unit == task.PerMillionTokens && unit != rate.unit && unit != "":
			r.add(path+"."+rate.name, "is a price of tokens", "it goes with unit: mtok")
		}
	}
}

func (r *report) checkHosts(path string, hosts []string) {
	for i, host := range hosts {
		if host == "" || strings.ContainsAny(host, " \t\n@?#") || strings.Contains(host, "://") {
			r.add(elementOf(path, i), "must be a host, a host and port, an address or a CIDR", "")
		}
	}
}

// maxUsageMetadata bounds the names of UsageMetadata: each of them is one more sum for each task.
const maxUsageMetadata = 4

func (r *report) checkUsageMetadata(names []string) {
	for i, name := range names {
		switch problem := catalog.MetadataNameProblem(name); {
		case problem != "":
			r.add(elementOf("usage_metadata", i), problem, "")
		case slices.Contains(names[:i], name):
			r.add(elementOf("usage_metadata", i), "is given more than once", "")
		case i >= maxUsageMetadata:
			r.add(elementOf("usage_metadata", i), fmt.Sprintf("is one name more than the %d that may be given", maxUsageMetadata), "")
		}
	}
}

func (r *report) known(path string, name catalog.Name, directory *catalog.Catalog) {
	if _, ok := directory.Get(name); ok {
		return
	}
	var names []string
	for _, c := range directory.All() {
		names = append(names, string(c.Name))
	}
	r.add(path, "is no capability", oneOf(string(name), names))
}

func validAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" && u.Fragment == ""
}

func elementOf(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func flagName(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

// Proxies returns TrustedProxies as networks.
func (c Config) Proxies() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range c.TrustedProxies {
		if n, err := parseNetwork(text); err == nil { // as check saw to
			all = append(all, n)
		}
	}
	return all
}

// parseNetwork reads a CIDR or a single address.
func parseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return a.Unmap().WithZone("").Prefix(a.Unmap().BitLen())
	}
	n, err := netip.ParsePrefix(text)
	return n.Masked(), err
}
