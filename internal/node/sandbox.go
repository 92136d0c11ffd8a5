package node

import (
	"fmt"
	"path/filepath"
	"strings"

	"unitask/internal/api"
	"unitask/internal/hint"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/task"
)

// sandboxFolder is the findable sandbox supplier's memory in the data folder.
const sandboxFolder = "sandbox"

// Sandboxes are the suppliers of test keys. They are made once, because they remember their submissions.
type Sandboxes []sandboxSupplier

type sandboxSupplier struct {
	name    string
	adapter supplier.Adapter
}

// NewSandboxes makes the suppliers of test keys, whose memory is in the data folder.
func NewSandboxes(dataDir string) (Sandboxes, error) {
	var out Sandboxes
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
			return nil, hint.With(fmt.Errorf("the data folder can't be used: %w", err), "--data-dir names another folder")
		}
		out = append(out, sandboxSupplier{one.Name, adapter})
	}
	return out, nil
}

// addSandbox adds the suppliers of test keys, for all capabilities of the directory; their prices decide their order.
func (s *Suppliers) addSandbox(box Sandboxes) {
	all := s.directory.All()
	for i, one := range box {
		for _, capability := range all {
			amount := task.Money(i+1) * task.USD / 100
			s.Routes = append(s.Routes, routing.Route{
				Capability: capability.Name, Supplier: one.name, Model: one.name, Mode: task.Test, Approved: true,
				Price: task.Price{Unit: sandboxUnit(string(capability.Base())), Input: amount, Output: amount},
				Kind:  sandbox.Kind(), Adapter: one.adapter,
			})
		}
	}
	s.Statuses = append(s.Statuses, api.SupplierStatus{Name: api.SandboxName, Live: true, About: fmt.Sprintf("for test keys: all %d capabilities", len(all))})
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
