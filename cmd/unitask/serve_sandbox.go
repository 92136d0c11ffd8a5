package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/task"
)

// sandboxFolder is where the findable sandbox supplier remembers, in the data folder.
const sandboxFolder = "sandbox"

// sandboxes are the suppliers of test keys. They are made once: they remember what they were sent.
type sandboxes []sandboxSupplier

type sandboxSupplier struct {
	name    string
	adapter supplier.Adapter
}

func newSandboxes(dataDir string) (sandboxes, error) {
	var out sandboxes
	for _, one := range []supplier.Config{
		{Name: sandbox.Cheap},
		{Name: sandbox.Dear},
		{Name: sandbox.Findable, Options: map[string]string{
			"class": sandbox.ClassFindable, "dir": filepath.Join(dataDir, sandboxFolder),
		}},
		{Name: sandbox.Neither, Options: map[string]string{"class": sandbox.ClassNeither}},
	} {
		adapter, err := sandbox.Kind().New(one)
		if err != nil {
			return nil, err
		}
		out = append(out, sandboxSupplier{one.Name, adapter})
	}
	return out, nil
}

// addSandbox adds the suppliers of test keys, for all of the directory; their prices only put one
// before the other.
func (s *supply) addSandbox(box sandboxes, directory *catalog.Catalog) {
	all := directory.All()
	for i, one := range box {
		for _, capability := range all {
			amount := task.Money(i+1) * task.USD / 100
			s.routes = append(s.routes, routing.Route{
				Capability: capability.Name, Supplier: one.name, Model: one.name, Mode: task.Test, Approved: true,
				Price: task.Price{Unit: sandboxUnit(string(capability.Name)), Input: amount, Output: amount},
				Kind:  sandbox.Kind(), Adapter: one.adapter,
			})
		}
	}
	s.statuses = append(s.statuses, api.SupplierStatus{Name: "sandbox", Live: true, About: fmt.Sprintf("for test keys: all %d capabilities", len(all))})
}

func sandboxUnit(capability string) task.Unit {
	switch family, _, _ := strings.Cut(capability, "."); family {
	case "image":
		return task.PerImage
	case "video", "audio":
		return task.PerSecond
	default:
		return task.PerMillionTokens
	}
}
