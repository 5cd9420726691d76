# The two commands: `make run` measures and answers; `make test` proves that the instrument is right.
CARGO ?= cargo
WEIGH = target/release/weigh

.PHONY: help run test build corpus lint docs ci fuzz deny bench-codec bench-answer bench-noise bench-kill bench-load bench-meter bench-truth bench-simulation bench-cache bench-link pictures clean

help:
	@echo "make run           install what is missing, build, fetch the corpus, measure, answer"
	@echo "make test          install what tests need, and pass all of them"
	@echo "make build         build the release binary: $(WEIGH)"
	@echo "make lint docs     formatting, clippy, PHP checks; the documentation of the code"
	@echo "make fuzz          a minute of random input for what reads a server's bytes and a user's files"
	@echo "make deny          licences, duplicates and sources of the dependencies; needs cargo-deny"
	@echo "make pictures      every picture of README and docs again, from the runs in docs/runs"
	@echo "make bench-codec   our codec figures against zstd -b, lzbench and native zlib"
	@echo "make bench-answer  the adaptive stop against measuring everything"
	@echo "make bench-noise   figures while both cores are loaded"
	@echo "make bench-kill    kills at random instants: 50 runs of codecs and of servers, each resumed, and 200 of every verb"
	@echo "make bench-load    the load generator against wrk, ab and h2load; its memory; one flipped byte"
	@echo "make bench-meter   CPU time of a response against PHP pages that burn a known one; whose sendfile is"
	@echo "make bench-cache   client workers against redis-benchmark, and against a store with known response times"
	@echo "make bench-link    links: bandwidth and round trip asked, and measured"
	@echo "make bench-simulation   the rule that tells two apart, and intervals, under simulated noise"
	@echo "make bench-truth   response times of the load generator against what was true"

run:
	@scripts/setup run
	@$(MAKE) --no-print-directory build
	@$(WEIGH) corpus fetch
	@$(WEIGH) run --quick

build:
	@$(CARGO) build --release --locked

test:
	@scripts/setup test
	@CARGO="$(CARGO)" scripts/test

lint:
	@$(CARGO) fmt --all --check
	@rustfmt --check --edition 2024 --config-path rustfmt.toml crates/codec/src/codecs/*.rs crates/load/src/arrival/*.rs crates/load/fuzz/targets/*.rs crates/load/fuzz/src/lib.rs crates/lab/fuzz/targets/*.rs crates/lab/fuzz/src/lib.rs
	@$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@scripts/lint

docs:
	@RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --document-private-items

ci: lint docs test

fuzz:
	@scripts/fuzz 60

deny:
	@$(CARGO) deny --locked check licenses bans sources

bench-simulation:
	@$(CARGO) bench --locked --quiet -p weigh-stats --bench simulation

bench-truth:
	@$(CARGO) bench --locked --quiet -p weigh-load --bench truth

bench-codec bench-answer bench-noise bench-kill bench-load bench-meter bench-cache bench-link:
	@scripts/setup bench
	@$(CARGO) bench --locked --quiet -p weigh --bench $(@:bench-%=%)

pictures: build
	@scripts/pictures

clean:
	@$(CARGO) clean
