# Cargo itself knows what is to be built anew. PHP's `make test` reads the name of the module from the second file.
.PHONY: weighbridge-by-cargo
weighbridge-by-cargo:
	target=$${CARGO_TARGET_DIR:-$(abspath $(top_builddir))/target} && cd $(top_srcdir) && \
	PHP="$(PHP_EXECUTABLE)" PHP_CONFIG="$(WEIGHBRIDGE_PHP_CONFIG)" \
		$(CARGO) build --release --locked --lib --package weighbridge-php $(WEIGHBRIDGE_FEATURES) --target-dir "$$target" && \
	cp "$$target/release/libweighbridge_php.so" $(phplibdir)/weighbridge.so

$(phplibdir)/weighbridge.la: weighbridge-by-cargo
	@echo "dlname='weighbridge.so'" >$@
