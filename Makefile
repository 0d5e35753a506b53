# make run    opens the window with the digits example; without a display trains it headless and exports it
# make check  lint, types, import contracts, and the tests that your change can break: under two minutes
# make test   lint, types, import contracts, all tests
# make journeys  what users come to do, in the real window, from an empty home folder to the file on disk, and the commands of the docs
#
# Variables: PYTHON, TORCH_SPEC, TORCH_ARGS, EXTRAS (see scripts/setup.sh), PYTEST_ARGS (for example "-n 2" or "-k edits").

BIN := .venv/bin
# Compiled modules are written even where the environment forbids it: tests start hundreds of interpreters.
TESTS := QT_QPA_PLATFORM=offscreen PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
export PYTHON TORCH_SPEC TORCH_ARGS EXTRAS

.PHONY: help setup run lint lint-alone platforms check test test-alone journeys docs pictures parity faults fuzz cluster
.PHONY: without gpu wine audit clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | head -n 6
	@echo "also: make setup | lint | docs | pictures | parity | faults | fuzz | cluster | without PART=NAME | gpu | platforms"
	@echo "      make wine WINE=FOLDER | audit | clean"

setup:
	@scripts/setup.sh

run: setup
	@scripts/run.sh

lint: setup
	@$(MAKE) --no-print-directory lint-alone

lint-alone: build/package
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(foreach system,win32 darwin,$(call types_on,$(system),$(SEAM)) &&) true
	cd build/package && ../../$(BIN)/lint-imports --config ../../pyproject.toml --no-cache

# Types as they are on Windows and macOS: of what calls the system in `make lint`, of all modules here.
SEAM := $(addprefix build/package/netwright/engine/core/,platform.py platform_files.py locks.py process.py fork.py)
types_on = $(BIN)/mypy --platform $(1) --no-warn-unreachable --cache-dir .mypy_cache/$(1) $(2)

platforms: setup build/package
	$(foreach system,win32 darwin,$(call types_on,$(system),build/package/netwright) &&) true

# The packages as an installation has them, by links, for tools that only read files.
build/package:
	mkdir -p $@/netwright
	cd $@/netwright && ln -s ../../../netwright/__init__.py $(addprefix ../../../,app designer engine resources) .

check: lint
	$(TESTS) -q -x $$($(BIN)/python scripts/affected_tests.py) $(PYTEST_ARGS)

# The lint beside the tests, whose processes wait for each other at times.
test: setup
	@$(MAKE) --no-print-directory -j 2 lint-alone test-alone

# Three processes on two cores: tests with real processes wait for these for a third of their time.
test-alone:
	$(TESTS) -n 3 --dist worksteal $(PYTEST_ARGS)

# Also those that are in `make test`, and each once more with little time for the engine.
journeys: setup
	@$(BIN)/python scripts/system_packages.py --screen-reader
	$(TESTS) -m "not gpu" -n 2 --dist worksteal -v --maxfail 5 --durations 10 $(PYTEST_ARGS) tests/journeys

# The pages of docs/ as a site in build/docs, without a network once the extra docs is installed.
docs: setup
	@$(BIN)/python -c 'import furo, myst_parser, sphinx' 2>/dev/null || \
	 $(BIN)/python -m pip install --quiet -e ".[docs]" -c constraints.txt
	rm -rf build/docs
	$(BIN)/python -m sphinx -W --keep-going -E -q -c docs -d build/docs-cache . build/docs
	@echo '<meta http-equiv="refresh" content="0; url=docs/README.html">' >build/docs/index.html
	$(TESTS) -q -m site tests/architecture/test_site.py $(PYTEST_ARGS)

# The pictures of docs/, from the real window, in both themes.
pictures: setup
	QT_QPA_PLATFORM=offscreen $(BIN)/python scripts/make_pictures.py

parity: setup
	$(TESTS) -m "parity or hypothesis" --hypothesis-profile thorough -v -n 2 --dist worksteal --durations 20 $(PYTEST_ARGS)

fuzz: setup
	$(TESTS) -m fuzz -n 2 --dist worksteal $(PYTEST_ARGS) tests/fuzz

faults: setup
	$(TESTS) -m faults -rP tests/faults $(PYTEST_ARGS)

cluster: setup
	$(TESTS) -m cluster $(PYTEST_ARGS) tests/system

# The whole suite where the folders of one part are moved away, as PART=experiments.
without: setup
	scripts/without_part.sh $(PART) $(PYTEST_ARGS)

gpu: setup
	$(TESTS) -m gpu $(PYTEST_ARGS)

# What people do, with a Windows Python under Wine in the folder WINE; see scripts/wine.sh.
wine: setup
	WINE=$(WINE) scripts/wine.sh

# Known vulnerabilities of what lock.txt has; passes, with a line that says so, where there is no network.
audit:
	@scripts/audit.sh

clean:
	rm -rf build .mypy_cache .pytest_cache .ruff_cache .hypothesis
