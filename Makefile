# A thin front for meson and scripts/; every target works in a fresh clone.
BUILD ?= build
SECONDS_EACH ?= 60
CPU_SECONDS ?= 1800
PAIRS ?= 15
PREFIX ?= $(prefix)

.PHONY: help deps build demo check check-images check-cosign bench lint analyze format fuzz fuzz-long golden-update \
	docs metrics install uninstall deb check-deb check-vm

help:
	@echo 'make deps           install the Debian packages that are missing (root or sudo)'
	@echo 'make build          build into $(BUILD)/'
	@echo 'make demo           run examples/hello in a sandbox on this host and show its record'
	@echo 'make check          all tests, sanitizers, short fuzzing, lint; "N passed, N failed"'
	@echo 'make check-images   build the harness images and test them (root; fetches from npm, Debian)'
	@echo 'make check-cosign   signatures with the real cosign, 2 and 3 (fetches both by Go modules)'
	@echo 'make lint           layers, headers, sizes, exports, format, clang, clang-tidy, cppcheck, shellcheck'
	@echo 'make analyze        the static analyzer of gcc over src/'
	@echo 'make format         clang-format over the tree'
	@echo 'make fuzz           each fuzz target for SECONDS_EACH seconds ($(SECONDS_EACH))'
	@echo 'make fuzz-long      each fuzz target until it has had CPU_SECONDS of CPU time ($(CPU_SECONDS)), idle'
	@echo 'make bench          ratios against the engines, printed as a table (PAIRS=$(PAIRS))'
	@echo 'make metrics        sizes, complexity, repetition and comments of the code, as tables'
	@echo 'make golden-update  rewrite tests/golden from what the programs say; review the diff'
	@echo 'make docs           rewrite docs/reference from the tables in src/; review the diff'
	@echo 'make install        install (DESTDIR, PREFIX and BUILD are honoured)'
	@echo 'make uninstall      remove what "make install" put there'
	@echo 'make deb            build the Debian packages into build-deb/, judged by lintian'
	@echo 'make check-deb      install, use, remove and purge them in a Debian of their own (root)'
	@echo 'make check-vm       tests on a Debian 12 with its own kernel and systemd, by qemu (root; half an hour)'

deps:
	@scripts/deps

build:
	@scripts/deps build
	@scripts/build $(BUILD)

demo:
	@scripts/demo

check:
	@scripts/check

check-images:
	@scripts/check-images

check-cosign:
	@scripts/check-cosign

bench: build
	@scripts/bench --build $(BUILD) --pairs $(PAIRS)

lint: build
	@scripts/deps check
	@scripts/lint

analyze: build
	@scripts/analyze $(BUILD)

format:
	@scripts/sources | xargs clang-format -i

fuzz:
	@scripts/deps check
	@scripts/fuzz $(SECONDS_EACH)

fuzz-long:
	@scripts/deps check
	@scripts/fuzz-long $(CPU_SECONDS)

metrics:
	@scripts/deps metrics
	@scripts/metrics

golden-update: build
	@scripts/golden --update

docs: build
	@scripts/fuzz-page >docs/internals/fuzzing.md
	@scripts/docs --update

install: build
	@$(if $(PREFIX),meson setup --reconfigure $(BUILD) --prefix=$(PREFIX) >/dev/null && scripts/build $(BUILD))
	@meson install --quiet --no-rebuild -C $(BUILD)
	@echo "installed below $(DESTDIR)$$(meson introspect $(BUILD) --buildoptions | \
		python3 -c 'import json, sys; print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')"

uninstall:
	@ninja --quiet -C $(BUILD) uninstall

deb:
	@scripts/deb

check-deb:
	@scripts/check-deb

check-vm:
	@scripts/check-vm
