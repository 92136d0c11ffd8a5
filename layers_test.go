// Package unitask_test tests the repository as a whole.
package unitask_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// layer is one row of the table in docs/design/packages.md: on which floor a package stands and which others it may
// import. Its tests may also import whatever stands no higher, every fixture package, and node: a test that needs a
// service has it assembled as serve does.
type layer struct {
	floor int
	may   []string
	below bool // may import every lower floor, but for the leaves
	leaf  bool // an engine or an adapter: only node, package main, its family's list and tests import it

	leaves bool // may import leaves: it assembles the service
}

// fewest guards against a walk that finds no package and so allows everything.
const fewest = 10

var (
	adapter = []string{"supplier", "supplier/upstream", "catalog", "fault", "secret"}
	engine  = []string{"store", "task", "account", "fault", "jsonwrite", "disk", "webhook"}
)

// layers is the table, by directory below internal, or by directory elsewhere; unitask/client is the directory client.
var layers = map[string]layer{
	"aaguard": {floor: 0},
	"bulk":    {floor: 0},

	"catalog/sample": {floor: 0},

	"capacity":  {floor: 0},
	"disk":      {floor: 0},
	"fault":     {floor: 0},
	"hint":      {floor: 0},
	"inquiry":   {floor: 0},
	"jsonread":  {floor: 0},
	"jsonwrite": {floor: 0},
	"picture":   {floor: 0},

	"picture/poster": {floor: 0},

	"roff": {floor: 0},
	"room": {floor: 0},
	"sse":  {floor: 0},

	"catalog/fastlane":        {floor: 1, may: []string{"bulk", "jsonread"}},
	"jsonwrite/jsonwritetest": {floor: 1, may: []string{"jsonwrite"}},

	"task":    {floor: 1, may: []string{"fault", "jsonread", "jsonwrite"}},
	"catalog": {floor: 1, may: []string{"bulk", "catalog/fastlane", "catalog/sample", "fault", "jsonread"}},
	"secret":  {floor: 1, may: []string{"fault"}},

	"api":      {floor: 2, may: []string{"fault", "jsonwrite", "task", "catalog"}},
	"account":  {floor: 2, may: []string{"fault", "task"}},
	"hours":    {floor: 2, may: []string{"task"}},
	"journal":  {floor: 2, may: []string{"task", "disk"}},
	"supplier": {floor: 2, may: []string{"fault", "catalog", "secret"}},
	"webhook":  {floor: 2, may: []string{"fault", "jsonwrite", "task"}},

	"supplier/upstream/http1": {floor: 0},
	"supplier/jq":             {floor: 0},

	"tail":                  {floor: 3, may: []string{"api"}},
	"supplier/upstream":     {floor: 3, may: []string{"supplier/upstream/http1", "bulk", "supplier", "catalog", "fault", "secret", "sse", "jsonread", "jsonwrite"}},
	"supplier/modelmap":     {floor: 3, may: adapter},
	"supplier/openai":       {floor: 3, may: append([]string{"jsonread", "jsonwrite"}, adapter...), leaf: true},
	"supplier/anthropic":    {floor: 3, may: adapter, leaf: true},
	"supplier/gemini":       {floor: 3, may: adapter, leaf: true},
	"supplier/chatmap":      {floor: 3, may: append([]string{"bulk", "supplier/jq"}, adapter...)},
	"supplier/httpmap":      {floor: 3, may: append([]string{"bulk", "supplier/jq", "supplier/modelmap"}, adapter...), leaf: true},
	"supplier/fal":          {floor: 3, may: append([]string{"supplier/modelmap"}, adapter...), leaf: true},
	"supplier/replicate":    {floor: 3, may: append([]string{"supplier/modelmap"}, adapter...), leaf: true},
	"supplier/unitask":      {floor: 3, may: append([]string{"api", "task"}, adapter...), leaf: true},
	"supplier/sandbox":      {floor: 3, may: append([]string{"supplier/sandbox/media", "disk"}, adapter...), leaf: true},
	"supplier/suppliertest": {floor: 3, may: append([]string{"supplier/openapicheck"}, adapter...)},
	"supplier/openapicheck": {floor: 3},

	"supplier/openapicheck/trim": {floor: 3, may: []string{"supplier/openapicheck"}},

	"supplier/all": {floor: 3, may: append([]string{
		"supplier/openai", "supplier/anthropic", "supplier/gemini", "supplier/fal", "supplier/httpmap", "supplier/replicate",
		"supplier/sandbox", "supplier/unitask",
	}, adapter...)},
	"supplier/sandbox/media": {floor: 3, leaf: true},

	"store":                {floor: 3, may: []string{"task", "account", "fault", "jsonwrite", "webhook"}},
	"store/boltstore":      {floor: 3, may: append([]string{"store/boltstore/idem", "store/boltstore/wal"}, engine...), leaf: true},
	"store/boltstore/idem": {floor: 0},
	"store/boltstore/wal":  {floor: 3, may: []string{"disk", "store"}, leaf: true},
	"store/memstore":       {floor: 3, may: engine, leaf: true},
	"store/pgstore":        {floor: 3, may: engine, leaf: true},
	"store/pgstore/pgtest": {floor: 0},
	"store/losstest":       {floor: 3, may: []string{"account", "store", "task", "webhook"}},
	"store/storetest":      {floor: 3, may: append([]string{"store/memstore"}, engine...)},
	"chat":                 {floor: 3, may: []string{"api", "disk", "fault", "journal", "task"}},
	"artifact":             {floor: 3, may: []string{"fault", "task", "secret", "disk", "bulk", "jsonread"}},

	"artifact/artifacttest":   {floor: 3, may: []string{"artifact", "fault", "task"}},
	"artifact/s3store":        {floor: 3, may: []string{"artifact", "disk", "fault"}, leaf: true},
	"artifact/s3store/s3test": {floor: 0},

	"door":           {floor: 3, may: []string{"api", "fault", "jsonwrite", "task"}},
	"door/openai":    {floor: 4, may: []string{"api", "artifact", "bulk", "catalog", "door", "door/inbound", "fault", "jsonread", "jsonwrite", "sse", "task"}},
	"door/inbound":   {floor: 2, may: []string{"catalog", "fault", "jsonread", "jsonwrite"}},
	"door/anthropic": {floor: 4, may: []string{"api", "bulk", "catalog", "door", "door/inbound", "fault", "jsonwrite", "sse", "task"}},

	"requestlog": {floor: 3, may: []string{"task", "fault", "jsonwrite", "disk"}},
	"form":       {floor: 3, may: []string{"api", "catalog", "task"}},

	"test/crash/invariant": {floor: 3, may: []string{"api", "task"}},

	"routing":        {floor: 4, may: []string{"supplier", "catalog", "task", "fault", "jsonread"}},
	"policy":         {floor: 4, may: []string{"supplier", "catalog", "account", "task", "fault"}},
	"unitask/client": {floor: 5, may: []string{"sse"}}, // for other programs, which it leads to no other package

	"simulate": {floor: 5, may: []string{"routing", "supplier", "catalog", "task", "fault"}},
	"gate":     {floor: 4, may: []string{"account", "store", "catalog", "fault", "task"}},

	"arguments": {floor: 4, may: []string{"api", "catalog", "disk", "form", "hint", "journal", "task"}},

	"snippet": {floor: 4, may: []string{"api", "form", "catalog"}},

	"upload": {floor: 4, may: []string{"artifact", "fault", "task"}},

	"backup": {floor: 4, may: []string{"artifact", "disk"}},

	"notify":   {floor: 5, may: []string{"account", "api", "artifact", "catalog", "fault", "gate", "store", "task", "webhook"}},
	"gateway":  {floor: 5, below: true},
	"operator": {floor: 5, may: []string{"account", "api", "catalog", "fault", "gate", "hours", "requestlog", "routing", "secret", "store", "supplier", "tail", "task", "webhook"}},

	"server":         {floor: 6, below: true, may: []string{"server/console"}},
	"server/console": {floor: 6, below: true},
	"client":         {floor: 6, may: []string{"unitask/client", "api", "task", "catalog", "fault", "secret", "sse"}},

	"metrics":           {floor: 7, below: true},
	"client/clienttest": {floor: 3, may: []string{"api", "fault", "sse"}},

	"submit": {floor: 7, may: []string{"account", "api", "client", "fault", "hint", "journal", "shown", "snippet", "task"}},
	"submit/talk": {floor: 7, may: []string{
		"api", "arguments", "catalog", "chat", "client", "fault", "form", "hint", "journal", "submit",
	}},
	"mcp":    {floor: 7, may: []string{"api", "catalog", "client", "fault", "secret", "task"}},
	"save":   {floor: 7, may: []string{"api", "client", "disk", "fault", "hint", "shown", "snippet"}},
	"tui":    {floor: 8, may: []string{"api", "chat", "client", "hint", "save", "form", "task", "catalog", "fault", "picture", "shown"}},
	"config": {floor: 7, may: []string{"fault", "task", "catalog", "account", "artifact", "secret", "disk"}},

	"clockstep": {floor: 0},
	"shown":     {floor: 0},

	"docs":            {floor: 0}, // embeds the published interface
	"docs/agents":     {floor: 0}, // a program that users copy
	"node":            {floor: 8, below: true, leaves: true},
	"cmd/unitask":     {floor: 9, below: true},
	"deploy":          {floor: 9},
	"packaging/image": {floor: 9},
	"test/bench":      {floor: 9, may: []string{"account", "api", "capacity", "door/openai", "gate", "store", "store/boltstore", "store/pgstore", "store/pgstore/pgtest", "task"}},
	"test/browser":    {floor: 9},
	"test/crash":      {floor: 9},
	"test/e2e":        {floor: 9},
	"test/sim":        {floor: 9},
	"test/fleet":      {floor: 9},
	"test/move":       {floor: 9},
	"test/fulldisk":   {floor: 9},
	"test/hostile":    {floor: 9},
	"test/harness": {floor: 7, may: []string{
		"api", "artifact", "client", "sse", "store/boltstore", "store/pgstore/pgtest", "task", "test/crash/invariant",
	}},
	"test/model":      {floor: 9},
	"test/recording":  {floor: 0},
	"test/sdk":        {floor: 9},
	"test/model/gguf": {floor: 0},
	"test/power":      {floor: 9},
	"test/fixture":    {floor: 0},
	"test/sweep":      {floor: 9},
	"test/typecheck":  {floor: 0},
	"test/upstream":   {floor: 9},
}

// TestLayers parses every Go file of the module. It starts no go command, whose work the test cache
// wouldn't see.
func TestLayers(t *testing.T) {
	found := walk(t, ".")
	if len(found) < fewest {
		t.Fatalf("only %d packages found, at least %d exist", len(found), fewest)
	}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		for _, problem := range check(dir, found[dir]) {
			t.Error(problem)
		}
	}
}

// TestLayersGoDown checks the table itself: an import of the same floor stays in its family.
func TestLayersGoDown(t *testing.T) {
	for name, l := range layers {
		for _, dep := range l.may {
			d, ok := layers[dep]
			family, _, _ := strings.Cut(name, "/")
			same := d.floor == l.floor && (dep == family || strings.HasPrefix(dep, family+"/"))
			if !ok || (d.floor >= l.floor && !same) {
				t.Errorf("%s, floor %d, may import %s, floor %d", name, l.floor, dep, d.floor)
			}
		}
	}
}

// check returns the faults of a package.
func check(dir string, p pkg) []string {
	l, known := layers[dir]
	if !known {
		return []string{dir + ": not in the table of layers; give it a floor here and in docs/design/packages.md"}
	}
	var problems []string
	if !p.documented {
		problems = append(problems, dir+`: no package comment that begins "Package `+p.name+` " ("Command " for main)`)
	}
	for dep, files := range p.imports {
		if !allowed(l, dep) {
			problems = append(problems, dir+": must not import "+dep+", as "+strings.Join(files, ", ")+" does")
		}
	}
	for dep, files := range p.inTests {
		if dep != dir && !allowed(l, dep) && !allowedInTests(l, dep) {
			problems = append(problems, dir+": its tests must not import "+dep+", as "+strings.Join(files, ", ")+" does")
		}
	}
	slices.Sort(problems)
	return problems
}

func allowed(l layer, dep string) bool {
	d, known := layers[dep]
	if slices.Contains(l.may, dep) {
		return true
	}
	return known && l.below && d.floor < l.floor && (!d.leaf || l.leaves || l.floor == 9) && !isFixture(dep)
}

func allowedInTests(l layer, dep string) bool {
	d, known := layers[dep]
	return known && (d.floor <= l.floor || isFixture(dep) || dep == "node")
}

func isFixture(dir string) bool { return strings.HasSuffix(path.Base(dir), "test") }
