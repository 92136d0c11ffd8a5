// Command probe links what the product links, and prints what main would find. With the build tag
// "bare" it leaves the guard out, to show what it is for.
package main

import (
	"fmt"
	"os"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
)

func main() {
	restore()
	lipgloss.SetHasDarkBackground(true)
	_ = tea.Quit
	fmt.Printf("CI=%s BUS=%s PROFILE=%s\n",
		show("CI"), show("DBUS_SESSION_BUS_ADDRESS"), lipgloss.ColorProfile().Name())
}

func show(name string) string {
	value, set := os.LookupEnv(name)
	if !set {
		return "unset"
	}
	return fmt.Sprintf("%q", value)
}
