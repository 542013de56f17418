# Everything that is done with this repository. `make help` lists it.
#
# Builds are of the whole workspace: building one crate selects other features of some dependencies, which are then compiled a
# second time. `make check` and the demo do that; BoringSSL is the same for all.

target := $(or $(CARGO_TARGET_DIR),target)
export PATH := $(PATH):$(HOME)/.cargo/bin
tools := $(or $(UTMOST_TOOLS),.tools)
demo_page := case-study-1

# Programs for the C library of 2018 (glibc 2.28), which Zig's linker has.
release_target := $(shell uname -m)-unknown-linux-gnu

.PHONY: build test check demo interop bench bench-peers bench-pages bench-article bench-tcp results notebook artifact release release-test advisories bootstrap help

build: bootstrap ## builds the programs, optimized: target/release/utmost, utmost-serve and utmost-workshop
	cargo build --locked --release --workspace --bin utmost --bin utmost-serve --bin utmost-workshop
	@echo "built: $(target)/release/utmost"

test: ## checks format, lints, all tests, unused dependencies, licences
	@./bootstrap test
	@tests/run

check: ## checks format, and lints and tests the crates that changed; BASE=COMMIT names since when
	@tests/check

demo: bootstrap ## loads a page with a late hero image under twelve schemes over QUIC, and shows what the order changes
	cargo build --config .cargo/demo.toml --locked --no-default-features --bin utmost
	$(target)/debug/utmost compare $(demo_page) --paper --schemes paper,rfc9218 --engine wire --out out/demo
	@echo "try orders yourself: $(target)/debug/utmost view, and open the address that it prints"

interop: bootstrap ## tests utmost with other HTTP/3 stacks, and writes docs/interop.md
	cargo build --locked --workspace --bin utmost --bin utmost-serve
	interop/setup
	cargo test --locked --features=tokio-quiche --manifest-path interop/plug-in/Cargo.toml --target-dir "$(abspath $(target))/interop/build/plug-in"
	UTMOST_BIN="$(abspath $(target))/debug/utmost" interop/run --write

bench: bootstrap ## the speed of scheduling and of reading logs, next to plain ways of doing so
	cargo bench --locked --workspace --bench '*'

bench-peers: build ## the CPU time of the server beside others and beside the least that its transport allows, half an hour; writes docs/speed.md
	cargo build --locked --release --workspace --example floor
	benches/peers/setup
	UTMOST_RELEASE="$(abspath $(target))/release" benches/peers/run --rounds 7 --write \
		$$(chrt -r 5 true 2>/dev/null && echo --real-time)

bench-pages: build ## how long a page takes in Chromium from our server and others behind the same link, hours; writes docs/page-loads.md
	UTMOST_RELEASE="$(abspath $(target))/release" benches/pages/run --write

bench-article: build ## Meenan's before and after over the system's TCP, in Chromium, 20 minutes; writes results/measured/notsent-lowat-tcp.md
	UTMOST_RELEASE="$(abspath $(target))/release" benches/pages/article --write

bench-tcp: build ## what three sources measured over TCP, over the system's TCP, 15 minutes; writes results/measured/over-tcp.md
	UTMOST_RELEASE="$(abspath $(target))/release" benches/pages/sources --write

results: bootstrap ## reproduces published tables and figures, and writes results/
	cargo build --locked --workspace --bin utmost-workshop
	$(target)/debug/utmost-workshop reproduce all --out results || [ $$? = 1 ]

notebook: bootstrap ## executes the notebook of the Python package, and keeps what it prints
	./bootstrap test
	cargo build --locked --workspace --bin utmost --bin utmost-workshop
	UTMOST_BIN="$(abspath $(target))/debug/utmost" PYTHONPATH=python/src \
		$(tools)/python/bin/python python/notebooks/execute.py

artifact: bootstrap ## makes target/utmost-artifact-VERSION.tar.gz of the last commit, for reviewers (ARTIFACT.md)
	@./bootstrap test
	$(tools)/python/bin/python python/artifact.py $(target)

# Builds from a folder without zig in it: zig gives relative paths to its headers below the folder where it runs, and crates are
# compiled in other folders.
release: ## makes what users install, in target/release-artifacts: an archive, Debian packages, a wheel
	@./bootstrap release
	cd packaging && PATH="$(abspath $(tools))/zig/bin:$(PATH)" CARGO_TARGET_DIR="$(abspath $(target))" \
		cargo zigbuild --locked --release --workspace --target $(release_target).2.28 \
		--bin utmost --bin utmost-serve --bin utmost-workshop
	$(tools)/python/bin/python python/release.py $(target)/$(release_target)/release $(target)/release-artifacts

release-test: ## installs what `make release` made in empty systems, and tries it: as root, three minutes
	packaging/test $(target)/release-artifacts

advisories: ## looks for known faults of the dependencies (needs the network)
	@./bootstrap test
	$(tools)/bin/cargo-deny --locked check advisories

bootstrap:
	@./bootstrap

help: ## prints this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(firstword $(MAKEFILE_LIST))
