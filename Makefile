# Everything a contributor runs. `make` alone lists the targets.
GO ?= go
PKG ?= ./...
CI := ./.ci/run

.DEFAULT_GOAL := help
.PHONY: help build test race lint fmt cover bench profile crash client-crash sigterm clock webhook-crash store-crash store-copy lists database-crash fleet postgres-suites corrupt power sweep hostile upload full-disk backup-test upgrade-test linearizable sim fuzz npm openapi deploy-check e2e e2e-model openai-go golden pictures reproducible vuln release-check image-test ci clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build ./unitask
	CGO_ENABLED=0 $(GO) build -trimpath -pgo=cmd/unitask/release.pgo -o unitask ./cmd/unitask

test: ## Run the tests (PKG=./internal/task for some)
	$(GO) test $(PKG)

race: ## Run the tests with the race detector
	$(GO) test -race $(PKG)

lint: ## Check the format, vet and the linters
	$(CI) packages tools format vet lint shell

fmt: ## Format the code as the linters want it
	golangci-lint fmt

cover: ## Measure the coverage of the tests into coverage.html
	$(GO) test -coverpkg=./... -coverprofile=coverage.txt $(PKG)
	$(GO) tool cover -html=coverage.txt -o coverage.html
	$(GO) tool cover -func=coverage.txt | tail -n 1

bench: ## Measure unitask against a reverse proxy and direct calls, in one run (BENCH=-short for a quick look)
	$(GO) run ./test/bench $(value BENCH)

crash: ## Kill the server 1,000 times under load and check the invariants (UNITASK_CRASH_CYCLES=n for another number)
	UNITASK_CRASH_CYCLES=$${UNITASK_CRASH_CYCLES:-1000} $(GO) test ./test/crash -run TestKilled -v -timeout 2h

client-crash: ## Kill "unitask run" 200 times at random moments, finish with tasks resume and check (UNITASK_CLIENT_KILLS=n)
	UNITASK_CLIENT_KILLS=$${UNITASK_CLIENT_KILLS:-200} $(GO) test ./test/crash -run "TestClientKilled|TestBatchKilled" -count=1 -v -timeout 1h

sigterm: ## Stop the server 500 times under load and check the same, and that nothing is cut off (UNITASK_SIGTERM_CYCLES=n)
	UNITASK_SIGTERM_CYCLES=$${UNITASK_SIGTERM_CYCLES:-500} $(GO) test ./test/crash -run 'TestSigterm|TestSecondSignal' -v -timeout 2h

clock: ## Set the clock of a server by an hour and a year, both ways, under load, and check that nothing ends early
	$(GO) test ./test/crash -run TestClock -v
	$(GO) test ./internal/store/boltstore -run 'TestClock|TestStartAfterAClock' -v

webhook-crash: ## End 10,000 tasks through 200 kills of the server and check each webhook (UNITASK_WEBHOOK_ENDS=n UNITASK_WEBHOOK_KILLS=n)
	UNITASK_WEBHOOK_ENDS=$${UNITASK_WEBHOOK_ENDS:-10000} UNITASK_WEBHOOK_KILLS=$${UNITASK_WEBHOOK_KILLS:-200} $(GO) test ./test/crash -run TestWebhooksKilled -count=1 -v -timeout 2h

store-crash: ## Kill a process that writes to the store 1,000 times (UNITASK_KILL_CYCLES=n for another number)
	UNITASK_KILL_CYCLES=$${UNITASK_KILL_CYCLES:-1000} $(GO) test ./internal/store/boltstore -run TestKill -v -timeout 2h

store-copy: ## Copy a store of 1,000,000 tasks into PostgreSQL and back, with a kill in each (UNITASK_COPY_TASKS=n, UNITASK_COPY_KILLS=n)
	UNITASK_COPY_TASKS=$${UNITASK_COPY_TASKS:-1000000} UNITASK_COPY_KILLS=$${UNITASK_COPY_KILLS:-1} $(GO) test ./test/move -count=1 -v -timeout 1h

lists: ## Read the console's list of 1,000,000 tasks, from the file and from PostgreSQL, in 100 ms a page (UNITASK_LIST_TASKS=n)
	UNITASK_LIST_TASKS=$${UNITASK_LIST_TASKS:-1000000} $(GO) test ./test/move -run 'TestLists$$' -count=1 -v -timeout 1h

database-crash: ## End a PostgreSQL server or its connections 500 times while two nodes write (UNITASK_PG_CRASHES=n for another number)
	UNITASK_PG_CRASHES=$${UNITASK_PG_CRASHES:-500} $(GO) test ./internal/store/pgstore -run 'TestCrash$$' -count=1 -v -timeout 2h

fleet: ## Do 10,000 tasks at three nodes behind nginx while nodes and database fail (UNITASK_FLEET_TASKS=n, UNITASK_FLEET_SEED=n)
	UNITASK_FLEET_TASKS=$${UNITASK_FLEET_TASKS:-10000} $(GO) test ./test/fleet -run 'TestStorm$$' -count=1 -v -timeout 2h

postgres-suites: ## Run the suites of the whole server with its tasks in PostgreSQL
	UNITASK_TEST_STORE=postgres UNITASK_CRASH_CYCLES=$${UNITASK_CRASH_CYCLES:-20} $(GO) test ./test/e2e ./test/crash -count=1 -timeout 30m

corrupt: ## Damage the files of killed stores in 20 ways of each kind (UNITASK_CORRUPT_CASES=n, UNITASK_CORRUPT_SEED=n)
	UNITASK_CORRUPT_CASES=$${UNITASK_CORRUPT_CASES:-20} $(GO) test ./internal/store/boltstore -run 'TestCorruption' -count=1 -v -timeout 1h

power: ## Cut the power 500 times on ext4 and on xfs while a process writes (root; UNITASK_POWER_CUTS=n for another number)
	UNITASK_POWER_CUTS=$${UNITASK_POWER_CUTS:-500} $(GO) test ./test/power -v -timeout 2h

sweep: ## Let every system call that changes the data folder fail once (UNITASK_SWEEP_POINTS=n for n of them)
	UNITASK_SWEEP_POINTS=$${UNITASK_SWEEP_POINTS:-0} $(GO) test ./test/sweep -v -parallel 8 -timeout 2h

hostile: ## Attack the server with slow, large and many requests, and hold it to its bounds of memory and time (on a quiet machine)
	UNITASK_HOSTILE=1 $(GO) test ./test/hostile -count=1 -v -timeout 30m

upload: ## Send 1 GiB through five cut connections, to one node and to two on an object store, and hold the servers to 32 MiB more
	UNITASK_UPLOAD_BYTES=1073741824 $(GO) test ./test/e2e -run '^TestUploadOver' -count=1 -v -timeout 30m

full-disk: ## Fill the disk under the server, and its database to the limit (root)
	$(GO) test ./test/fulldisk -v

backup-test: ## Restore 50 backups that were taken under load and check the invariants (UNITASK_BACKUP_CYCLES=n for another number)
	UNITASK_BACKUP_CYCLES=$${UNITASK_BACKUP_CYCLES:-50} $(GO) test ./test/crash -run 'TestRestored|TestFilesBeforeTheDatabase|TestResumed' -v -timeout 1h

upgrade-test: ## Kill the upgrade of an old store at each of its writes and syncs
	UNITASK_UPGRADE_POINTS=$${UNITASK_UPGRADE_POINTS:-10000} $(GO) test ./internal/store/boltstore -run TestUpgrade -v -timeout 1h

linearizable: ## Check 100,000 operations of each engine for an order that one caller could have seen (UNITASK_LINEARIZABLE_OPS=n)
	UNITASK_LINEARIZABLE_OPS=$${UNITASK_LINEARIZABLE_OPS:-100000} $(GO) test ./internal/store/memstore ./internal/store/boltstore ./internal/store/pgstore -run 'TestLinearizable$$' -count=1 -v

sim: ## Simulate 10,000 lives of 1,000 tasks each (UNITASK_SIM_MINUTES=n for as many as begin by then, UNITASK_SIM_SEED=n for one)
	UNITASK_SIM_SEEDS=$${UNITASK_SIM_SEEDS:-10000} UNITASK_SIM_TASKS=$${UNITASK_SIM_TASKS:-1000} $(GO) test ./test/sim -run 'TestSim$$' -count=1 -v -timeout 24h

profile: ## Record anew what steers the compiler of releases
	$(GO) run ./test/bench -only '^sync64$$' -rounds 1 -d 30s -profile cmd/unitask/release.pgo
	# With Sum256 in the profile the compiler guesses at the type of its hash, which then escapes to the heap.
	$(GO) tool pprof -proto -ignore '^crypto/sha256\.' -output cmd/unitask/release.pgo cmd/unitask/release.pgo

fuzz: ## Run every fuzz target (FUZZ_COUNT=1000000 for longer)
	$(CI) fuzz

npm: ## Install the tests' tools from npm
	$(CI) npm

openapi: npm ## Lint docs/openapi.yaml
	$(CI) openapi

deploy-check: npm ## Check the files for Compose, Kubernetes and Helm, and run nginx with them
	$(CI) packages tools deploy

e2e: npm ## Run the end-to-end tests against the real binary
	$(CI) packages e2e

e2e-model: ## Prompt a real Ollama with a generated tiny model through unitask
	test/model/run.sh

openai-go: npm ## Call the real binary by OpenAI's library for Go, of test/openaigo, and by its one for JavaScript
	UNITASK_OPENAI_GO=1 $(GO) test ./test/e2e -run 'TestOpenAILibraries$$|TestOpenAILibraryIsCutOff$$' -count=1 -v

golden: ## Write the generated pages anew
	$(GO) test ./internal/task -run TestStateMachinePage -update
	$(GO) test . -run TestDesignPackages -update
	$(GO) generate ./client
	$(GO) test ./test/sdk -run 'Test(Python|TypeScript)Types' -update

pictures: npm ## Make the pictures of the docs anew: recordings of the terminal, and screenshots of the console
	$(GO) test ./test/e2e -run 'TestRecordings$$' -count=1 -update
	$(GO) test ./test/browser -run 'TestConsole$$|TestScreenshots$$' -count=1 -update

reproducible: ## Build twice in different folders and compare the hashes
	$(CI) reproducible

vuln: ## Look for known vulnerabilities in what is linked (needs vuln.go.dev, and so is no part of CI)
	@curl -fsS -m 20 -o /dev/null https://vuln.go.dev/index/db.json || \
		{ echo "vuln: nothing was checked, for vuln.go.dev can't be reached" >&2; exit 1; }
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...

release-check: ## Build a whole release without publishing it
	$(CI) tools release
	goreleaser release --snapshot --clean --skip=publish,sign,sbom,docker

image-test: ## Serve from a root that holds exactly the files of the release's image (root)
	UNITASK_IMAGE=1 $(GO) test ./packaging/image -count=1 -v

ci: ## Run all that CI runs
	$(CI)

clean: ## Remove what the other targets made
	rm -rf unitask dist completions man image.tar coverage.txt coverage.html
