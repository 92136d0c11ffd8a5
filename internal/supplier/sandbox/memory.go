package sandbox

import (
	"sync"

	"unitask/internal/supplier"
)

// The bounds of a memory, in submissions and bytes: beyond them the oldest is forgotten.
const (
	maxRemembered      = 512
	maxRememberedBytes = 8 << 20
)

// memory is a supplier's submissions. It lives as long as the adapter; after a restart it is empty, and jobs go on
// all the same. It is safe for concurrent use.
type memory struct {
	mu       sync.Mutex
	jobs     map[string]supplier.Job // by submit key
	canceled map[string]bool         // by submit key
	keys     map[string]string       // submit key by job id
	order    []string                // submit keys, oldest first
	bytes    int                     // of all jobs' states
	archive  archive                 // the part that outlives the process, if there is one
}

// begin remembers the job under the submit key. If the key is known already, its job is returned, and known is true.
func (m *memory) begin(submitKey string, job supplier.Job) (_ supplier.Job, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if earlier, ok := m.jobs[submitKey]; ok {
		return earlier, true
	}
	if earlier, ok := m.archive.find(submitKey); ok {
		return earlier, true
	}
	m.bytes += len(job.State)
	for len(m.order) > 0 && (len(m.order) >= maxRemembered || m.bytes > maxRememberedBytes) {
		m.forgetLocked(m.order[0])
		m.order = m.order[1:]
	}
	m.jobs[submitKey], m.keys[job.ID] = job, submitKey
	m.order = append(m.order, submitKey)
	m.archive.keep(submitKey, job)
	return job, false
}

func (m *memory) forgetLocked(submitKey string) {
	m.bytes -= len(m.jobs[submitKey].State)
	delete(m.keys, m.jobs[submitKey].ID)
	delete(m.jobs, submitKey)
	delete(m.canceled, submitKey)
}

// find returns the job that the submit key began.
func (m *memory) find(submitKey string) (supplier.Job, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if job, ok := m.jobs[submitKey]; ok {
		return job, true
	}
	return m.archive.find(submitKey)
}

// cancel remembers that the job is to end; an unknown one isn't of this memory.
func (m *memory) cancel(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if key, ok := m.keys[id]; ok {
		m.canceled[key] = true
	}
}

// isCanceled reports whether the job was canceled.
func (m *memory) isCanceled(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.canceled[m.keys[id]]
}
