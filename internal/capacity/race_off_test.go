//go:build !race

package capacity_test

// underRace says that the race detector runs, under which a fit takes minutes and, with one goroutine, shows no race.
const underRace = false
