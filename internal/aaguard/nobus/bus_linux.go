package nobus

import "syscall"

// sessionBus reports whether a session bus is named in the environment or listens where systemd
// and older desktops put it; these are the places that are looked at before a bus is started.
func sessionBus() bool {
	if address, _ := syscall.Getenv(variable); address != "" && address != "autolaunch:" {
		return true
	}
	run := "/run/user/" + decimal(syscall.Getuid())
	return exists(run+"/bus") || exists(run+"/dbus-session")
}

func exists(path string) bool {
	var st syscall.Stat_t
	return syscall.Stat(path, &st) == nil
}

// decimal is strconv.Itoa for n ≥ 0, without the import.
func decimal(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return decimal(n/10) + string(rune('0'+n%10))
}
