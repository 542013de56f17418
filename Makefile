# Everything that is done with this repository. `make help` lists it.
#
# All builds are of the whole workspace: building one crate selects other features of what build scripts use, and
# BoringSSL would be compiled a second time (4 to 5 CPU-minutes).

target := $(or $(CARGO_TARGET_DIR),target)
export PATH := $(PATH):$(HOME)/.cargo/bin
tools := $(or $(UTMOST_TOOLS),.tools)
demo_page := gentelella-index

.PHONY: build test demo interop bench results advisories bootstrap help

build: bootstrap ## the program, optimized: target/release/utmost
	cargo build --locked --release --workspace --bin utmost
	@echo "built: $(target)/release/utmost"

test: ## format, lints, all tests, unused dependencies, licences
	@./bootstrap test
	@tests/run

demo: bootstrap ## a real page under twelve schemes, over QUIC on loopback: the table and the report
	cargo build --locked --no-default-features --bin utmost
	$(target)/debug/utmost compare $(demo_page) --schemes paper,rfc9218 --engine wire --out out/demo

interop: bootstrap ## other HTTP/3 stacks talk to us; writes docs/interop.md
	cargo build --locked --workspace --bin utmost
	interop/setup
	UTMOST_BIN="$(abspath $(target))/debug/utmost" interop/run --write

bench: bootstrap ## the cost of scheduling, beside a plain heap
	cargo bench --locked --workspace --bench '*'

results: bootstrap ## the paper's tables and figures again, ours beside theirs: writes results/
	cargo build --locked --workspace --bin utmost
	$(target)/debug/utmost reproduce all --out results || [ $$? = 1 ]

advisories: ## known faults of the dependencies (needs the network)
	@./bootstrap test
	$(tools)/bin/cargo-deny --locked check advisories

bootstrap:
	@./bootstrap

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' $(firstword $(MAKEFILE_LIST))
