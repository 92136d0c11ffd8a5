package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/config"
	"unitask/internal/hint"
	"unitask/internal/node"
	"unitask/internal/snippet"
	"unitask/internal/store"
)

const (
	littleRoom = 1 << 30   // bytes: enough for a while
	noRoom     = 100 << 20 // bytes: a few videos
)

// server checks the settings, folder and suppliers of a server on this machine. A client's machine has no such parts.
func (d *diagnosis) server(ctx context.Context) {
	settings, directory, ok := d.settings()
	dir, err := d.o.chosen()
	if err != nil {
		return // the profiles' finding
	}
	info, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) && d.o.dataDir == "" {
		d.add(finding{Check: "data", Status: healthOff, Found: "no server's data folder here"})
		return
	}
	if err == nil && !info.IsDir() {
		err = errors.New(dir + " is no folder")
	}
	if err != nil {
		d.fail("data", hint.With(err, "unitask serve makes one; --data-dir names another"))
		return
	}
	d.data(dir, info)
	d.disk(dir)
	if ok {
		d.shared(ctx, settings)
	}
	running, states := d.running(ctx, dir)
	if running == nil && ok {
		running = d.wouldFind(ctx, settings, directory)
	}
	d.suppliers(running, states)
}

// settings reads them, and the directory, as serve would.
func (d *diagnosis) settings() (config.Config, *catalog.Catalog, bool) {
	sources := node.FindSources(d.o.config)
	c, directory, err := config.Load(sources)
	if err != nil {
		check := "unitask config check"
		if sources.File != "" && !sources.Found {
			check += " " + snippet.Word(sources.File)
		}
		d.fail("settings", hint.With(err, check+" shows each error with its line"))
		return c, directory, false
	}
	if sources.File == "" {
		d.ok("settings", "no file, so the defaults and the environment")
	} else {
		d.ok("settings", "%s is valid", sources.File)
	}
	return c, directory, true
}

func (d *diagnosis) data(dir string, info os.FileInfo) {
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.fail("data", hint.With(err, "the folder must be writable for the user that serves"))
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	if !private(info) {
		d.warn("data", dir+" is open to other users", "chmod 700 "+snippet.Word(dir))
		return
	}
	d.ok("data", "%s is writable and private", dir)
}

func (d *diagnosis) disk(dir string) {
	free, err := freeBytes(dir)
	switch found := api.Size(free) + " free"; {
	case err != nil:
		d.warn("disk", plain(err), "")
	case free < noRoom:
		d.fail("disk", hint.With(errors.New(found+": new work will be refused soon"), "make room, or move the data folder: unitask store backup"))
	case free < littleRoom:
		d.warn("disk", found, "results fill it first; limits.artifact_ttl in the settings says how long they are kept")
	default:
		d.ok("disk", "%s", found)
	}
}

// shared checks the database and the object store that several nodes may share.
func (d *diagnosis) shared(ctx context.Context, c config.Config) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if !c.OneNode() {
		found, err := node.CheckDatabase(ctx, c)
		if _, half := errors.AsType[*store.UnfinishedError](err); half {
			d.fail("database", err)
		} else if err != nil {
			d.fail("database", hint.With(err, "is it running, and may this machine and role reach it? the setting is store"))
		} else {
			d.ok("database", "%s", found)
		}
	}
	if bucket, elsewhere := c.Bucket(); elsewhere {
		if err := node.CheckBucket(ctx, bucket); err != nil {
			d.fail("artifacts", hint.With(err, "the setting is artifacts; docs/operating.md says what the bucket has to allow"))
		} else {
			d.ok("artifacts", "%s takes and gives objects", bucket.String())
		}
	}
}

// running asks the server on the data folder for its suppliers and how they stand; nil without a server.
func (d *diagnosis) running(ctx context.Context, dir string) ([]api.SupplierStatus, []api.SupplierState) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	admin, err := client.NewAdmin(dir)
	if err != nil {
		d.fail("server", err)
		return nil, nil
	}
	info, err := admin.Info(ctx)
	if _, away := errors.AsType[*client.UnreachableError](err); away {
		abs, absErr := filepath.Abs(dir)
		if absErr != nil {
			abs = dir
		}
		d.add(finding{Check: "server", Status: healthOff, Found: "none runs on " + abs, Hint: "unitask serve --data-dir " + snippet.Word(dir)})
		return nil, nil
	}
	if err != nil {
		d.fail("server", err)
		return nil, nil
	}
	if own := readBuild().Version; info.Version != own && info.Version != unversioned {
		d.warn("server", fmt.Sprintf("version %s runs here, this is %s", info.Version, own), "start the server anew to run this version")
	} else {
		d.ok("server", "version %s, process %d, at %s", info.Version, info.PID, info.BaseURL)
	}
	if info.Quarantined > 0 {
		d.warn("database", fmt.Sprintf("%d rows couldn't be read and were set aside", info.Quarantined),
			"stop the server, copy the folder, and unitask store check --repair --data-dir "+snippet.Word(dir)+" says what they are")
	}
	states, err := admin.Suppliers(ctx)
	if err != nil {
		d.warn("suppliers", "how they stand isn't known: "+plain(err), "")
	}
	return info.Suppliers, states
}

// wouldFind is the suppliers that a server would find if it were started here and now.
func (d *diagnosis) wouldFind(ctx context.Context, c config.Config, directory *catalog.Catalog) []api.SupplierStatus {
	s, err := node.LiveSuppliers(ctx, c, directory, os.Getenv)
	if err != nil {
		d.fail("suppliers", err)
		return nil
	}
	return s.Statuses
}

// suppliers lists who serves live keys, and why others don't: they weren't found, or refuse this server's key.
func (d *diagnosis) suppliers(all []api.SupplierStatus, states []api.SupplierState) {
	live := func(s api.SupplierStatus) bool { return s.Live && s.Name != api.SandboxName }
	if all != nil && !slices.ContainsFunc(all, live) {
		d.warn("suppliers", "none is live: a live key has nothing to call", "set a supplier's key in the server's environment, or name it in the settings")
	}
	for _, s := range all {
		i := slices.IndexFunc(states, func(state api.SupplierState) bool { return state.Name == s.Name })
		if i >= 0 && d.refusing(states[i]) {
			continue
		}
		status := healthOff
		if s.Live {
			status = healthOK
		}
		d.add(finding{Check: "supplier " + s.Name, Status: status, Found: s.About})
	}
}

// refusing reports a supplier that refuses the server's key, balance or model: on all its routes a failure.
func (d *diagnosis) refusing(s api.SupplierState) bool {
	refused, approved, reason := 0, 0, ""
	for _, r := range s.Routes {
		if !r.Approved {
			continue
		}
		if approved++; r.NeedsOperator {
			refused, reason = refused+1, r.Reason
		}
	}
	if refused == 0 {
		return false
	}
	found := fmt.Sprintf("%s, on %d of its %d routes", reason, refused, approved)
	const remedy = "check the key and its balance at the supplier; a key from the environment counts from the server's next start; unitask suppliers --routes shows what is refused"
	if refused < approved {
		d.warn("supplier "+s.Name, found, remedy)
	} else {
		d.fail("supplier "+s.Name, hint.With(errors.New(found), remedy))
	}
	return true
}
