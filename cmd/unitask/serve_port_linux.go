package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// listening is the state of a socket that accepts, in the kernel's tables.
const listening = "0A"

// portHolder returns who listens on the port, such as "unitask (process 812)"; "" if unknown.
func portHolder(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return ""
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		raw, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		if inode := listenerInode(string(raw), uint16(n)); inode != "" {
			return inodeHolder(inode)
		}
	}
	return ""
}

// listenerInode finds the socket that listens on the port in a table of the kernel.
func listenerInode(table string, port uint16) string {
	suffix := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) > 9 && f[3] == listening && strings.HasSuffix(f[1], suffix) {
			return f[9]
		}
	}
	return ""
}

// inodeHolder finds the process that has the socket open, among those this user may look into.
func inodeHolder(inode string) string {
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return ""
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != "socket:["+inode+"]" {
			continue
		}
		process := strings.Split(link, "/")[2]
		name, err := os.ReadFile("/proc/" + process + "/comm")
		if err != nil {
			return "process " + process
		}
		return strings.TrimSpace(string(name)) + " (process " + process + ")"
	}
	return ""
}
