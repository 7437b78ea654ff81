# run    everything in one process on an embedded store
# test   every test, installing what it needs
# soak   the long runs, bounded to some minutes
# bench  speed and memory, as ratios against bare baselines of the same run
TOOL := go tool -modfile=scripts/tools.mod
PURE := ./internal/rng/... ./internal/money/... ./internal/game/... ./internal/bet/... ./internal/rtp/... ./internal/vectors/...
WASM_EXEC = $(shell go env GOROOT)/lib/wasm/go_js_wasm_exec

.PHONY: run build test test-race test-386 test-wasm soak bench generate lint check-generated

run:
	go run ./services/originals

build:
	CGO_ENABLED=0 go build -trimpath -o bin/originals ./services/originals

test: test-tools test-race test-386 test-wasm

.PHONY: test-tools
test-tools:
	@scripts/install-test-tools.sh

test-race:
	go test -race -timeout 15m ./...

# The derivations give the same bytes on 32 bits and in a browser.
test-386:
	GOARCH=386 CGO_ENABLED=0 go test $(PURE)
	GOARCH=arm64 CGO_ENABLED=0 go vet $(PURE)

test-wasm:
	GOOS=js GOARCH=wasm go test -exec "$(WASM_EXEC)" $(PURE)

soak: test-tools
	ORIGINALS_TEST_SOAK=1 go test -count=1 -timeout 60m -v -run 'Soak|Kill' ./services/originals/...

bench: test-tools
	scripts/bench.sh

generate:
	$(TOOL) buf generate --template scripts/buf.gen.yaml

lint:
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	$(TOOL) staticcheck ./...
	$(TOOL) buf lint
	$(TOOL) buf format -d --exit-code

check-generated: generate
	git diff --exit-code -- proto
