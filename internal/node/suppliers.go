package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/policy"
	"unitask/internal/routing"
	"unitask/internal/secret"
	"unitask/internal/supplier"
	"unitask/internal/supplier/all"
	"unitask/internal/supplier/chatmap"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/task"
)

const (
	// probeTime is how long a supplier on this machine has to answer at the start: the machine may be busy. A closed
	// port is refused at once.
	probeTime = time.Second
	// keyTime bounds reading a supplier's key, in a keyring at worst.
	keyTime = 5 * time.Second
	// probeBytes bounds a list of models.
	probeBytes = 1 << 20
	// anyModel in a built-in route stands for any model that the supplier has.
	anyModel = "*"
)

// Suppliers are the suppliers that the settings name or that were found, and the routes to them.
type Suppliers struct {
	Routes   []routing.Route
	Prices   map[catalog.Name]task.Price // of callers, if the settings have them
	Statuses []api.SupplierStatus        // of all, also of those that aren't used; in the order of the banner
	Policy   *policy.Policy

	adapters  map[string]supplier.Adapter // of live suppliers, by their names in routes
	directory *catalog.Catalog
}

// AnyLive reports whether a live key can call a capability.
func (s Suppliers) AnyLive() bool {
	return slices.ContainsFunc(s.Routes, func(r routing.Route) bool { return r.Mode == task.Live && r.Approved })
}

// liveKinds returns the kinds of suppliers that live keys may be served by.
func liveKinds() []supplier.Kind {
	return slices.DeleteFunc(all.Kinds(), func(k supplier.Kind) bool { return k.Name == sandbox.Kind().Name })
}

// NamedSources returns the sources of the settings without flags: the file, or the one that UNITASK_CONFIG names.
func NamedSources(file string) config.Sources {
	s := config.Sources{File: file, Getenv: os.Getenv, Kinds: kindNames()}
	if s.File == "" {
		s.File = os.Getenv("UNITASK_CONFIG")
	}
	for _, k := range liveKinds() {
		if k.Moderates {
			s.Moderators = append(s.Moderators, k.Name)
		}
		if k.AnyOutput {
			s.AnyOutput = append(s.AnyOutput, k.Name)
		}
	}
	return s
}

// FindSources returns NamedSources, or else the file unitask.yaml of the working folder.
func FindSources(file string) config.Sources {
	s := NamedSources(file)
	if s.File != "" {
		return s
	}
	if _, err := os.Lstat(config.FileName); !errors.Is(err, fs.ErrNotExist) {
		s.File, s.Found = config.FileName, true
	}
	return s
}

// kindNames returns the capabilities of each live kind; nil if its models' maps decide.
func kindNames() map[string][]string {
	names := map[string][]string{}
	for _, k := range liveKinds() {
		names[k.Name] = k.Capabilities
		if k.Maps {
			names[k.Name] = nil
		}
	}
	return names
}

// FindSuppliers makes the routes: the sandbox's for test keys, and for live keys those of the settings. Settings without
// suppliers use those whose key is in the environment or that answer on this machine.
func FindSuppliers(
	ctx context.Context, c config.Config, directory *catalog.Catalog, box Sandboxes, getenv func(string) string,
) (Suppliers, error) {
	s := Suppliers{Prices: map[catalog.Name]task.Price{}, directory: directory}
	for name, price := range c.Prices {
		s.Prices[name] = price.Task()
	}
	s.addSandbox(box)
	if err := s.addLive(ctx, c, getenv); err != nil {
		return s, err
	}
	return s, s.addPolicy(c.Policy)
}

// LiveSuppliers returns the suppliers of live keys alone, without a policy.
func LiveSuppliers(
	ctx context.Context, c config.Config, directory *catalog.Catalog, getenv func(string) string,
) (Suppliers, error) {
	s := Suppliers{directory: directory}
	err := s.addLive(ctx, c, getenv)
	return s, err
}

// addLive adds the suppliers of live keys.
func (s *Suppliers) addLive(ctx context.Context, c config.Config, getenv func(string) string) error {
	if c.HasRoutes() {
		for _, one := range c.Suppliers {
			if err := s.addConfigured(ctx, one, routesOf(one.Name, c.Routes)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, one := range config.Builtins() {
		if err := s.addBuiltin(ctx, one, getenv); err != nil {
			return err
		}
	}
	return nil
}

func routesOf(name string, routes map[catalog.Name][]config.Route) map[catalog.Name][]config.Route {
	own := map[catalog.Name][]config.Route{}
	for capability, list := range routes {
		for _, r := range list {
			if r.Supplier == name {
				own[capability] = append(own[capability], r)
			}
		}
	}
	return own
}

func (s *Suppliers) addConfigured(ctx context.Context, one config.Supplier, routes map[catalog.Name][]config.Route) error {
	st, err := s.add(one, one.Name, routes)
	if err != nil {
		return fmt.Errorf("supplier %s: %w", one.Name, err)
	}
	if !one.APIKey.IsZero() {
		if _, err := keyOf(ctx, one.APIKey); err != nil {
			st.Live, st.About = false, "its key can't be read: "+err.Error()
		}
	}
	s.Statuses = append(s.Statuses, st)
	return nil
}

func (s *Suppliers) addBuiltin(ctx context.Context, one config.Builtin, getenv func(string) string) error {
	st := api.SupplierStatus{Name: one.Title}
	var err error
	switch {
	case one.Variable != "" && getenv(one.Variable) == "":
		st.About = one.Variable + " is not set"
	case one.Variable != "" && strings.TrimSpace(getenv(one.Variable)) == "":
		st.About = one.Variable + " holds nothing but spaces"
	case one.Variable == "":
		st, err = s.addLocal(ctx, one)
	case !slices.ContainsFunc(liveKinds(), func(k supplier.Kind) bool { return k.Name == one.Supplier.Kind }):
		st.About = "not supported in this version, although " + one.Variable + " is set"
	default:
		st, err = s.add(one.Supplier, one.Title, one.Routes)
	}
	s.Statuses = append(s.Statuses, st)
	return err
}

// addLocal adds a supplier on this machine, if it answers, with the first model that it has.
func (s *Suppliers) addLocal(ctx context.Context, one config.Builtin) (api.SupplierStatus, error) {
	u, err := url.Parse(one.Supplier.BaseURL)
	if err != nil {
		return api.SupplierStatus{}, err
	}
	model, err := firstModel(ctx, one.Supplier.BaseURL)
	if err != nil {
		return api.SupplierStatus{Name: one.Title, About: "at " + u.Host + " " + err.Error()}, nil //nolint:nilerr // the status says it
	}
	for _, routes := range one.Routes {
		for i := range routes {
			if routes[i].Model == anyModel {
				routes[i].Model = model
			}
		}
	}
	return s.add(one.Supplier, one.Title, one.Routes)
}

// add makes the supplier's adapter and routes.
func (s *Suppliers) add(one config.Supplier, title string, routes map[catalog.Name][]config.Route) (api.SupplierStatus, error) {
	kind, adapter, err := newAdapter(one)
	if err != nil {
		return api.SupplierStatus{}, err
	}
	if err := checkModels(adapter, routes, s.directory); err != nil {
		return api.SupplierStatus{}, err
	}
	if s.adapters == nil {
		s.adapters = map[string]supplier.Adapter{}
	}
	s.adapters[one.Name] = adapter
	hosts, err := resultHosts(one)
	if err != nil {
		return api.SupplierStatus{}, err
	}
	var live []string
	for capability, list := range routes {
		for _, r := range list {
			if !kind.Maps && !kind.Serves(s.directory.Base(capability)) { // checkModels saw to those with maps
				continue // a built-in price of a capability that this version can't do
			}
			s.Routes = append(s.Routes, routing.Route{
				Capability: capability, Supplier: one.Name, Model: r.Model, Price: r.Price.Task(), Approved: r.Approved, Mode: task.Live,
				Voices: r.Voices, Cap: r.MaxConcurrent, SupplierCap: one.MaxConcurrent, Kind: voiced(kind, r.Voices), Adapter: adapter, ResultHosts: hosts,
				Rate: routing.Rate(r.PerMinute), SupplierRate: routing.Rate(one.PerMinute), Template: templateOf(adapter, s.directory.Base(capability), r),
			})
			if r.Approved && !slices.Contains(live, string(capability)) {
				live = append(live, string(capability))
			}
		}
	}
	if len(live) == 0 {
		return api.SupplierStatus{Name: title, About: "has no approved route"}, nil
	}
	slices.Sort(live)
	return api.SupplierStatus{Name: title, Live: true, About: strings.Join(live, ", ")}, nil
}

// templateOf returns how many tokens a route's requests have beside the caller's. The capability is the base of a tier.
func templateOf(a supplier.Adapter, capability catalog.Name, r config.Route) int {
	tokens := cmp.Or(r.Template, routing.DefaultTemplate)
	if t, ok := a.(supplier.Templater); ok {
		tokens += t.Template(capability, r.Model)
	}
	return tokens
}

// CheckSupplier returns an error for a supplier whose adapter can't be made, or for a route to a model that the
// supplier's maps don't describe. It sends no request.
func CheckSupplier(one config.Supplier, routes map[catalog.Name][]config.Route, directory *catalog.Catalog) error {
	_, adapter, err := newAdapter(one)
	if err == nil {
		err = checkModels(adapter, routesOf(one.Name, routes), directory)
	}
	return err
}

func newAdapter(one config.Supplier) (supplier.Kind, supplier.Adapter, error) {
	kinds := liveKinds()
	i := slices.IndexFunc(kinds, func(k supplier.Kind) bool { return k.Name == one.Kind })
	if i < 0 {
		return supplier.Kind{}, nil, fmt.Errorf("no kind %q", one.Kind)
	}
	c := supplier.Config{
		Name: one.Name, BaseURL: one.BaseURL, Timeout: time.Duration(one.Timeout), MaxTokensField: one.MaxTokensField,
		Models: one.Models, Options: one.Options, Standard: one.Transport == config.StandardTransport,
	}
	if ref := one.APIKey; !ref.IsZero() {
		c.APIKey = func() (string, error) { return keyOf(context.Background(), ref) }
	}
	if ref := one.ProxyPassword; !ref.IsZero() {
		c.ProxyPassword = func() (string, error) { return keyOf(context.Background(), ref) }
	}
	kind := kinds[i]
	adapter, err := kind.New(c)
	if _, ok := adapter.(supplier.Modeler); err == nil && !ok && len(one.Models) > 0 {
		return chatmap.Wrap(kind, adapter, one.Models)
	}
	return kind, adapter, err
}

// checkModels refuses a route to a model that its supplier's maps don't describe.
func checkModels(adapter supplier.Adapter, routes map[catalog.Name][]config.Route, directory *catalog.Catalog) error {
	m, ok := adapter.(supplier.Modeler)
	if !ok {
		return nil
	}
	for _, capability := range slices.Sorted(maps.Keys(routes)) {
		base := directory.Base(capability)
		for _, r := range routes[capability] {
			if !m.Knows(base, r.Model) {
				return fmt.Errorf("model %s has no map for %s; put one into a file that models names", r.Model, base)
			}
		}
	}
	return nil
}

func keyOf(ctx context.Context, ref secret.Ref) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	v, err := ref.Resolve(ctx)
	return v.Reveal(), err
}

// resultHosts returns the hosts that the supplier's result files may come from: the configured ones, else its own.
func resultHosts(one config.Supplier) ([]string, error) {
	if len(one.ResultHosts) > 0 {
		return one.ResultHosts, nil
	}
	u, err := url.Parse(one.BaseURL)
	if err != nil {
		return nil, err
	}
	return []string{u.Host}, nil
}

// The reasons why a server on this machine isn't used.
var (
	errSilent  = errors.New("nothing answers")
	errForeign = errors.New("something answers that has no list of models")
	errBare    = errors.New("it answers but has no model")
)

// firstModel asks a server on this machine for its models. It returns one of the errors above.
func firstModel(ctx context.Context, baseURL string) (model string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, baseURL+"/models", nil)
	if err != nil {
		return "", err
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true}, // and no proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", errSilent
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, probeBytes)).Decode(&list)
	if err != nil || resp.StatusCode != http.StatusOK {
		return "", errForeign
	}
	for _, m := range list.Data {
		if !strings.Contains(m.ID, "embed") {
			return m.ID, nil
		}
	}
	return "", errBare
}
