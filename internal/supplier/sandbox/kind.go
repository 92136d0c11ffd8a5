// Package sandbox is the suppliers of test keys and of a first start: real bytes, no model, no
// network, no cost.
//
// Their results are a pure function of the request. A job's state is a pure function of the stored Job and the clock,
// so that a restarted process polls on without any memory. Words that begin with @ in a request's text (the magic
// inputs, one table in magic.go, which docs/sandbox.md is generated from) bring about every state and every error, so
// that a client can be tested offline. An adapter's class says which promises it keeps about a submission of unknown
// outcome.
package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"unitask/internal/supplier"
)

// The names of the two suppliers that a configuration should give: Cheap is to be priced below
// Dear, and the magic input @full fills Cheap only.
const (
	Cheap = "sandbox-a"
	Dear  = "sandbox-b"
)

// The names of two more, one of each other class: they serve the requests that ask for it by the magic
// input @class, and only those.
const (
	Findable = "sandbox-findable"
	Neither  = "sandbox-neither"
)

// The classes, values of the option "class".
const (
	ClassHonorsKey = "honors_key" // a second submission with one key is the first; the default
	ClassFindable  = "findable"   // a submission can be looked up by its key
	ClassNeither   = "neither"    // an unknown outcome stays unknown
)

// Kind returns the kind "sandbox". Its options: "class"; "latency", a duration before each answer to a submission;
// "speed", a factor of the time that jobs and streams take, "0" for none; "dir", a folder in which a findable
// supplier keeps its submissions for an hour, so that a restart forgets no job.
func Kind() supplier.Kind {
	return supplier.Kind{
		Name:         "sandbox",
		Capabilities: slices.Sorted(maps.Keys(services)),
		New:          New,
		Refuses:      refuses,
	}
}

// settings is the values of the options.
type settings struct {
	class   string
	latency time.Duration
	speed   float64
	dir     string
}

// readOptions checks the options of one supplier.
func readOptions(options map[string]string) (settings, error) {
	s := settings{class: ClassHonorsKey, speed: 1}
	for name, value := range options {
		var err error
		switch name {
		case "class":
			s.class = value
			if !slices.Contains([]string{ClassHonorsKey, ClassFindable, ClassNeither}, value) {
				err = fmt.Errorf("not a class")
			}
		case "dir":
			s.dir = value
		case "latency":
			if s.latency, err = time.ParseDuration(value); err == nil && s.latency < 0 {
				err = fmt.Errorf("below zero")
			}
		case "speed":
			if s.speed, err = strconv.ParseFloat(value, 64); err == nil && !(s.speed >= 0 && s.speed <= 1000) {
				err = fmt.Errorf("outside 0 to 1000")
			}
		default:
			err = fmt.Errorf("unknown option")
		}
		if err != nil {
			return settings{}, fmt.Errorf("sandbox: option %s=%q: %w", name, value, err)
		}
	}
	return s, nil
}
