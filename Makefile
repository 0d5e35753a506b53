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

.PHONY: help setup run lint lint-alone check test test-alone journeys parity faults fuzz cluster without gpu clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | head -n 6
	@echo "also: make setup | lint | parity | faults | fuzz | cluster | without PART=NAME | gpu | clean"

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
	cd build/package && ../../$(BIN)/lint-imports --config ../../pyproject.toml --no-cache

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
	$(TESTS) -m "not gpu" -n 2 --dist worksteal --durations 10 $(PYTEST_ARGS) tests/journeys

parity: setup
	$(TESTS) -m parity -v -n 2 --dist worksteal --durations 20 $(PYTEST_ARGS)

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

clean:
	rm -rf build .mypy_cache .pytest_cache .ruff_cache .hypothesis
