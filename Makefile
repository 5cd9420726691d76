# The two commands: `make run` measures and answers; `make test` proves that the instrument is right.
CARGO ?= cargo
WEIGH = target/release/weigh

.PHONY: help run studies test build web corpus lint docs book ci fuzz deny bench-codec bench-answer bench-advice bench-asking bench-harm bench-noise bench-kill bench-load bench-meter bench-truth bench-simulation bench-cache bench-compare bench-link bench-log bench-history bench-pack bench-page bench-page-load bench-sites bench-proof bench-ray pictures deb roots release dist clean

help:
	@echo "make run           install what is missing (asks first), build, fetch the corpus; a sample site: looked at, advised, proved"
	@echo "make studies       the six built-in studies in their quick form"
	@echo "make test          install what tests need, and pass all of them"
	@echo "make build         build the release binary: $(WEIGH)"
	@echo "make web           the page of a run's report, from web/ with Node; part of make build"
	@echo "make lint docs     formatting, clippy, PHP checks; the documentation of the code"
	@echo "make book          the guide as a book: target/book/html/index.html"
	@echo "make fuzz          a minute of random input for the parsers of servers' bytes and users' files"
	@echo "make deny          licences, duplicates and sources of the dependencies; needs cargo-deny"
	@echo "make deb           the Debian packages: the program, its manual, completions; the PHP extension for each PHP with headers; needs cargo-deb"
	@echo "make roots         the package installed, used and purged in clean roots of Debian 12 and 13; needs root and debootstrap"
	@echo "make release       the release checklist, docs/dev/RELEASE.md, up to the upload"
	@echo "make dist          what a release uploads: .deb, archives, install script, checksums; needs root, cargo-deb, musl-tools"
	@echo "make pictures      draw every picture of README and docs from the runs in docs/runs"
	@echo "make bench-codec   our codec figures compared with zstd -b, lzbench and native zlib"
	@echo "make bench-answer  the adaptive stop compared with measuring everything"
	@echo "make bench-advice  the advice for five small sites compared with the best settings of exhaustive runs"
	@echo "make bench-asking  thirteen configurations of four servers: what weigh site says of 31 files and a page, compared with what an independent client is sent"
	@echo "make bench-harm    eight configurations of four servers with what weigh advise writes for them: at least 20,000 answers, none worse"
	@echo "make bench-noise   figures while both cores are loaded"
	@echo "make bench-kill    kills at random instants: 50 runs of codecs, of servers and of packing, each resumed, and 200 of every verb"
	@echo "make bench-load    the load generator compared with wrk, ab and h2load; its memory; one flipped byte"
	@echo "make bench-meter   CPU time per response compared with PHP pages of known CPU time; who pays for sendfile"
	@echo "make bench-cache   client workers compared with redis-benchmark, and with a store of known response times"
	@echo "make bench-compare   weigh compare: one configuration of 60 10% slower, 200 simulated and 20 real pairs of runs with nothing changed, 2% interleaved"
	@echo "make bench-link    links: requested and measured bandwidth and round trip"
	@echo "make bench-sites   WordPress, phpMyAdmin, DokuWiki and a front controller, brought up privately: crawled, counted, advised, proved, and the advice installed by hand and replayed; downloads 100 MB once"
	@echo "make bench-proof   the sample site on nginx, Apache, lighttpd and Caddy: how many predictions of a policy hold when it is proved; 45 minutes"
	@echo "make bench-pack    weigh pack compared with gzip, zopfli, brotli, zstd and npm's precompress; fetches 16 packages once"
	@echo "make bench-page    the page of a run with a million samples: time, bytes, and in Chromium first paint and a slider's move; the report of a million records: time, memory"
	@echo "make bench-page-load   24 pages over four links, by HTTP/1.1 and HTTP/2: the model of page loads compared with Chromium; 25 minutes"
	@echo "make bench-ray     a Ray cluster on this machine compared with local runs: 10,000 files, 40 configurations, a killed worker; installs Ray once"
	@echo "make bench-log     time and memory of reading an access log of a million lines"
	@echo "make bench-history time to make the summaries of 1,000 runs, and to list them"
	@echo "make bench-simulation   the rule for significant differences, and intervals, under simulated noise"
	@echo "make bench-truth   response times of the load generator compared with the true ones"

run: WEIGH = target/quick/weigh
run:
	@scripts/setup run
	@$(MAKE) --no-print-directory web
	@$(CARGO) build --profile quick --no-default-features --locked
	@$(WEIGH) lab corpus fetch
	@WEIGH=$(WEIGH) scripts/journey

studies: build
	@$(WEIGH) run --quick

build: web
	@$(CARGO) build --release --locked

# The page of `--format html`; a build without Node goes on without it.
web:
	@scripts/web

test:
	@scripts/setup test
	@scripts/web
	@CARGO="$(CARGO)" scripts/test

lint:
	@$(CARGO) fmt --all --check
	@rustfmt --check --edition 2024 --config-path rustfmt.toml crates/codec/src/codecs/*.rs crates/load/src/arrival/*.rs crates/load/fuzz/targets/*.rs crates/load/fuzz/src/lib.rs crates/cli/fuzz/targets/*.rs crates/cli/fuzz/src/lib.rs php/extension/coding/fuzz/targets/*.rs php/extension/coding/fuzz/src/lib.rs
	@$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@scripts/lint

docs:
	@RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --document-private-items

# The guide, from docs/SUMMARY.md.
book:
	@CARGO="$(CARGO)" scripts/book

ci: lint docs book test

fuzz:
	@scripts/fuzz 60

deny:
	@$(CARGO) deny --locked check licenses bans sources

bench-simulation:
	@$(CARGO) bench --locked --quiet -p weigh-stats --bench simulation
	@$(CARGO) bench --locked --quiet -p weigh-answer --bench drawn
	@$(CARGO) test --release --locked --quiet -p weigh-answer --lib proofs_of_drawn_sites -- --ignored --nocapture
	@$(MAKE) --no-print-directory build
	@python3 bench/drawn/drawn.py $(WEIGH) docs/runs/page-output

bench-truth:
	@$(CARGO) bench --locked --quiet -p weigh-load --bench truth

bench-page: web
	@$(CARGO) bench --locked --quiet -p weigh --bench page

bench-log bench-history bench-ray:
	@$(CARGO) bench --locked --quiet -p weigh --bench $(@:bench-%=%)

# They measure with what `make run` needs, and have no peers.
bench-advice bench-compare:
	@scripts/setup run
	@$(CARGO) bench --locked --quiet -p weigh --bench $(@:bench-%=%)

bench-codec bench-answer bench-noise bench-kill bench-load bench-meter bench-cache bench-link bench-pack bench-sites:
	@scripts/setup bench
	@$(CARGO) bench --locked --quiet -p weigh --bench $(@:bench-%=%)

bench-page-load:
	@scripts/setup test
	@$(CARGO) bench --locked --quiet -p weigh --bench page-load

bench-asking:
	@scripts/setup test
	@$(MAKE) --no-print-directory build
	@WEIGH=$(WEIGH) bench/asking/asking.py

bench-harm:
	@scripts/setup test
	@$(MAKE) --no-print-directory build
	@WEIGH=$(WEIGH) bench/harm/harm.py

bench-proof:
	@scripts/setup test
	@$(MAKE) --no-print-directory build
	@WEIGH=$(WEIGH) scripts/proof

pictures: build
	@scripts/pictures

deb: web
	@CARGO="$(CARGO)" scripts/deb
	@CARGO="$(CARGO)" scripts/deb-extension

roots: web
	@package=$$(CARGO="$(CARGO)" scripts/deb) && scripts/roots "$$package"

release:
	@scripts/release

dist:
	@scripts/release --dist

clean:
	@$(CARGO) clean
