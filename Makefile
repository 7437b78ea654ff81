# `make` alone lists the targets: each says after ## what it does.
TOOL := go tool -modfile=scripts/tools.mod
PURE := ./internal/rng/... ./internal/money/... ./internal/game/... ./internal/foreign/... ./internal/bet/... ./internal/rtp/... ./internal/vectors/...
WASM_EXEC = $(shell go env GOROOT)/lib/wasm/go_js_wasm_exec

.PHONY: help run build test test-tools test-race test-386 test-wasm soak bench generate lint check-generated

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 20

run: ## everything in one process on an embedded store
	go run ./services/originals

build: ## the binary, static, at bin/originals
	CGO_ENABLED=0 go build -trimpath -o bin/originals ./services/originals

test: test-tools test-race test-386 test-wasm ## every test, installing what it needs

test-tools: ## install what the tests need and the machine lacks
	@scripts/install-test-tools.sh

# The packages that take longest come first, so that the others fill the time beside them.
test-race: ## all packages, with the race detector
	go test -race -timeout 15m ./services/originals ./internal/ledger/redisledger ./services/crash ./...

test-386: ## the derivations give the same bytes on 32 bits, and compile for arm64
	GOARCH=386 CGO_ENABLED=0 go test $(PURE)
	GOARCH=arm64 CGO_ENABLED=0 go vet $(PURE)

test-wasm: ## the derivations give the same bytes in JavaScript's WebAssembly
	GOOS=js GOARCH=wasm go test -exec "$(WASM_EXEC)" $(PURE)

soak: test-tools ## the long runs, bounded to some minutes
	ORIGINALS_TEST_SOAK=1 go test -count=1 -timeout 60m -v -run 'Soak|Kill' ./services/originals/... ./services/crash

bench: test-tools ## speed and memory, as ratios against bare baselines of the same run
	scripts/bench.sh

generate: ## the Go code and the OpenAPI document from proto/
	$(TOOL) buf generate --template scripts/buf.gen.yaml

lint: ## gofmt, vet, staticcheck, buf
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }
	go vet ./...
	$(TOOL) staticcheck ./...
	$(TOOL) buf lint
	$(TOOL) buf format -d --exit-code

check-generated: generate ## the generated code is that of proto/
	git diff --exit-code -- proto
