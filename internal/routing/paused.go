package routing

import "unitask/internal/fault"

// Paused is the reason for passing over the routes of a supplier that an operator has paused.
const Paused = "paused by an operator"

// SetPaused replaces the suppliers whose routes take no request, whoever sends it, until it is called again. Work under
// way goes on.
func (h *Health) SetPaused(suppliers map[string]bool) {
	if h != nil {
		h.stopped.Store(&suppliers)
	}
}

// paused reports whether an operator has paused the supplier.
func (h *Health) paused(supplier string) bool {
	all := h.stopped.Load()
	return all != nil && (*all)[supplier]
}

// stop is the refusal of a paused supplier: as that of one which is full, so that tasks wait or may be retried.
func (h *Health) stop(r *Route) (reason string, code fault.Code) {
	if h.paused(r.Supplier) {
		return Paused, fault.CapacityExhausted
	}
	return "", ""
}

// Reset forgets all failures and pauses of a route, at all nodes: the next request is sent there. It has no effect on a
// supplier that an operator has paused, and none on limits a minute.
func (h *Health) Reset(route string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.applyLocked(event{What: reset, Route: route}, h.now(), 0)
	h.tellLocked(event{What: reset, Route: route}, h.now()) // a route that is well here may be left alone elsewhere
}

// resetLocked applies a reset, and reports whether there was anything to forget.
func (h *Health) resetLocked(route string) bool {
	if h.routes[route] == nil {
		return false
	}
	delete(h.routes, route)
	return true
}
