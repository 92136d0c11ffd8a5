package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/task"
)

// keyNames are the keys that bindings name and that aren't letters.
var keyNames = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEsc, "space": tea.KeySpace, "ctrl+s": tea.KeyCtrlS,
	stopKey: tea.KeyCtrlX, retryKey: tea.KeyCtrlR, undoKey: tea.KeyCtrlZ, takeKey: tea.KeyCtrlY, "ctrl+o": tea.KeyCtrlO,
}

// keyOf is the key that a binding names; false for one that names several, as those that move do.
func keyOf(name string) (tea.KeyMsg, bool) {
	if k, ok := keyNames[name]; ok {
		return tea.KeyMsg{Type: k}, true
	}
	if len(name) != 1 {
		return tea.KeyMsg{}, false
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}, true
}

// offeredKeys are the actions of the screen's keys.
func (m *Model) offeredKeys() []offer {
	bindings := m.bindings()
	if m.picker() != nil {
		bindings = nil // whose list is a choice already
	}
	var all []offer
	for _, b := range bindings {
		k, ok := keyOf(b.keys)
		if !ok || m.screen == formScreen && (b.keys == "enter" || b.keys == "tab") { // which move
			continue
		}
		words, about, _ := strings.Cut(b.does, "; ")
		all = append(all, offer{words, about, b.keys, func() tea.Cmd { return m.oneKey(k) }})
	}
	return append(all,
		offer{"keys", "all that this screen has", "?", func() tea.Cmd {
			m.help, m.helpTop = true, 0
			return nil
		}},
		offer{"quit", "tasks go on", "ctrl+c", func() tea.Cmd { return m.quit() }},
	)
}

// goTo offers a screen.
func (m *Model) goTo(to screen, words, about string) offer {
	return offer{words, about, "go to", func() tea.Cmd {
		m.screen = to
		return nil
	}}
}

func (m *Model) offeredScreens() []offer {
	all := []offer{m.goTo(directoryScreen, "capabilities", "the directory")}
	if m.config.Talks != nil {
		all = append(all, offer{"conversations", "chat with a model", "go to", m.openTalks}, offer{"new conversation", "chat with a model", "go to", m.newTalk})
	}
	return append(all, offer{"tasks", "all of them", "go to", func() tea.Cmd { return m.showTasks("") }})
}

// showTasks goes to the table with a filter.
func (m *Model) showTasks(filter string) tea.Cmd {
	m.screen = tasksScreen
	m.setFilter(filter)
	return m.look()
}

func (m *Model) offeredFilters() []offer {
	var all []offer
	for _, s := range task.States() {
		all = append(all, offer{string(s), "tasks in this state", "filter", func() tea.Cmd { return m.showTasks(string(s)) }})
	}
	return all
}

func (m *Model) offeredOrders() []offer {
	var all []offer
	for o := range orders {
		words := o.String()
		if o == newestFirst {
			words = "newest first"
		}
		all = append(all, offer{words, "order of the tasks", "sort", func() tea.Cmd {
			m.screen, m.table.order = tasksScreen, o
			return nil
		}})
	}
	return all
}

func (m *Model) offeredForms() []offer {
	var all []offer
	for i, c := range m.directory.all {
		all = append(all, offer{string(c.Name), c.Title, "form", func() tea.Cmd {
			if i >= len(m.directory.all) || m.directory.all[i].Name != c.Name {
				return nil // the directory was read anew
			}
			m.directory.cursor = i
			return m.openForm()
		}})
	}
	return all
}

// offeredTasks are the newest of the table's tasks, by their first words and their ids.
func (m *Model) offeredTasks() []offer {
	var all []offer
	for _, k := range m.tasks.newest[:min(len(m.tasks.newest), mostOffered)] {
		words := sign(k.State) + " " + k.Capability
		if about := what(k.Task, m.tasks.labels[k.ID]); about != "" {
			words += ": " + about
		}
		all = append(all, offer{words, k.ID, "task", func() tea.Cmd { return m.openDetail(k.ID) }})
	}
	return all
}
