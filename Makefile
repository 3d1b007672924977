# Everything runs from here; `make` alone says what there is. Only Python 3.11 or later and make are needed:
# the environment is made in .venv from the locked, hashed files in requirements/.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
URL ?= http://127.0.0.1:9200
DATA ?=
ARGS ?=

# PYTHON=... overrides the search.
PYTHON ?= $(shell for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	if command -v $$name >/dev/null 2>&1 \
	  && $$name -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' >/dev/null 2>&1; \
	then echo $$name; break; fi; done)

.PHONY: help demo test lint format seed eval bench lock clean

help:  ## Say what there is.
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 14

demo: $(VENV)/.runtime  ## Diagnose the bundled incident: no server, no key.
	@$(BIN)/logagent demo $(ARGS)

test: $(VENV)/.dev  ## Lint, types, import rules and all tests, also against real search nodes.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest $(ARGS)

lint: $(VENV)/.dev  ## Lint, types and import rules only.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## Format the code.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

seed: $(VENV)/.dev  ## Fill a search node with the bundled scenarios: make seed URL=http://127.0.0.1:9200
	$(BIN)/python -m fixtures.load $(URL) $(ARGS)

eval: $(VENV)/.dev  ## Score a folder of incidents: make eval DATA=path/to/incidents
	@test -n "$(DATA)" || { echo "make eval needs DATA=path/to/incidents" >&2; exit 2; }
	$(BIN)/python -m evals.incidents $(DATA) $(ARGS)

bench: $(VENV)/.runtime  ## Measure start-up and file speed beside a bare interpreter.
	$(BIN)/python -m benchmarks.cli $(ARGS)

lock: $(VENV)/.python  ## Renew requirements/ from pyproject.toml.
	$(PIP) install uv
	for name in runtime dev build; do \
	  source=pyproject.toml; more=; \
	  if [ $$name = dev ]; then more="--group dev --extra containers --constraint requirements/runtime.txt"; fi; \
	  if [ $$name = build ]; then source=requirements/build.in; fi; \
	  $(BIN)/uv pip compile $$source $$more --universal --python-version 3.11 --generate-hashes --upgrade \
	    --no-emit-index-url --no-header --no-annotate --quiet --output-file requirements/$$name.txt >/dev/null; \
	  sed -i '1i # Locked with hashes for Python 3.11 to 3.14 by `make lock`; edit pyproject.toml, not this file.' \
	    requirements/$$name.txt; \
	done

clean:  ## Remove the environment and all caches.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	@test -n "$(PYTHON)" || { \
	  echo "logagent needs Python 3.11 to 3.14 with venv, and none was found." >&2; \
	  echo "Debian and Ubuntu: apt-get install python3 python3-venv. Or name one: make PYTHON=/path/to/python3.12 ..." >&2; \
	  exit 1; }
	@rm -rf $(VENV)
	@echo "making $(VENV) with $$($(PYTHON) --version)" >&2
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# The package is installed for editing and without build isolation, so that nothing unlocked is fetched.
$(VENV)/.runtime: $(VENV)/.python requirements/runtime.txt requirements/build.txt pyproject.toml
	@echo "installing logagent (once)" >&2
	@$(PIP) install --require-hashes --requirement requirements/build.txt --requirement requirements/runtime.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt
	@echo "installing what the tests need (once)" >&2
	@$(PIP) install --require-hashes --requirement requirements/dev.txt
	@touch $@
