# Targets run in the active virtual environment, or in .venv, which is created on first use.
#   make test        set-up, checks, tests, a real browser: what each change must pass
#   make test-all    the same with the tests marked `exhaustive`: what each release must pass
#   make test-fast   under two minutes: tests/conftest.py defines which tests are fast
#   make lint        ruff, codespell, mypy; with Node.js also tsc and eslint
#   make bundles     rebuild the bundles of the browser components (Node.js)
#   make test-browser-units   the unit tests of their modules; make test runs them too (Node.js)
#   make format      fix and format with ruff
#   make run         open the app                   make bench    measure BertScope and its peers
#   make docs        the documentation as a site, in build/docs: pip install -e ".[docs]"
#   make notebooks   run the notebooks and keep their outputs; docs-links: links to other sites
#   make train CORPUS="a.txt.xz b.txt.xz" VALID=v.txt.xz RUN=runs/mine MINUTES=60

SHELL := /bin/bash
# Otherwise each test process, and each process that it starts, would compile all of our files anew.
unexport PYTHONDONTWRITEBYTECODE
ACTIVE := $(shell python -c "import os, sys; print(sys.prefix if sys.prefix != sys.base_prefix or os.path.isdir(sys.prefix + '/conda-meta') else '')" 2>/dev/null)
PREFIX := $(or $(ACTIVE),$(CURDIR)/.venv)
PYTHON := $(PREFIX)/bin/python
INSTALLED := $(PREFIX)/.bertscope-installed
MINUTES ?= 60
RUN ?= runs/bert
SEED ?= 0
# One process per logical core. The tests of a file stay together, since they share what they made;
# tests/conftest.py orders the files: long ones start first.
PARALLEL ?= --numprocesses logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

.PHONY: test test-all test-fast lint format run bench train install browser
.DEFAULT_GOAL := test

# All checks run even if one fails, so that one run shows everything; any failure fails the target. Lint runs beside
# the tests, on what processor time they leave, and prints its output in one piece when it is done.
test: CHOSEN = -m "not exhaustive"
test test-all: install browser
	@output=$$(mktemp) && trap 'rm -f "$$output"' EXIT; failed=0; \
	{ nice -n 19 $(MAKE) --no-print-directory --keep-going lint >"$$output" 2>&1; passed=$$?; echo; cat "$$output"; exit $$passed; } & \
	$(PYTHON) -m pytest $(PARALLEL) $(CHOSEN) || failed=1; \
	wait $$! || failed=1; \
	if [ $$failed = 1 ]; then echo "make $@: at least one check above failed" >&2; fi; \
	exit $$failed

test-fast: install
	$(PYTHON) -m pytest $(PARALLEL) --fast

lint: lint-ruff lint-format lint-spelling lint-types lint-browser

.PHONY: lint-ruff lint-format lint-spelling lint-types lint-browser bundles
lint-ruff: install
	$(PYTHON) -m ruff check .
lint-format: install
	$(PYTHON) -m ruff format --check .
lint-spelling: install
	$(PYTHON) -m codespell_lib
lint-types: install
	$(PYTHON) -m mypy
# Running and testing BertScope needs no Node.js: without it the browser components are not linted.
lint-browser:
	@if command -v npm >/dev/null && [ -d node_modules ]; then \
		npm run --silent types && npm run --silent lint; \
	else echo "lint-browser: skipped, since Node.js or node_modules is missing (npm ci)"; fi

# make test runs them through tests/test_bundles.py, which skips them without Node.js.
.PHONY: test-browser-units
test-browser-units: node_modules
	npm test --silent

bundles: node_modules
	npm run --silent build
node_modules: package-lock.json
	npm ci

format: install
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

# The libraries of the documentation are not those of `make install`: tests need none of them.
SPHINX = $(PYTHON) -m sphinx --conf-dir docs --fail-on-warning --keep-going --jobs auto --quiet
.PHONY: docs docs-links notebooks
docs:
	$(SPHINX) --builder html . build/docs
docs-links:
	$(SPHINX) --builder linkcheck . build/links
notebooks:
	$(PYTHON) -m nbconvert --to notebook --execute --inplace --ExecutePreprocessor.record_timing=False notebooks/[01]*.ipynb

run: install
	$(PYTHON) -m bertscope

bench: install
	$(PYTHON) -m benchmarks

train: install
	@if [ -z "$(CORPUS)" ] || [ -z "$(VALID)" ]; then \
		echo 'make train needs CORPUS="FILE ..." and VALID=FILE' >&2; exit 2; fi
	$(PYTHON) -m bertscope pretrain $(foreach file,$(CORPUS),--corpus $(file)) \
		--valid $(VALID) --out $(RUN) --minutes $(MINUTES) --seed $(SEED)

browser: install
	@$(PYTHON) tests/support/browser/setup_browser.py

install: $(INSTALLED)

# The stamp contains the checkout that it was made from: another checkout in the same environment installs again.
ifneq ($(shell cat $(INSTALLED) 2>/dev/null),$(CURDIR))
.PHONY: $(INSTALLED)
endif

$(INSTALLED): pyproject.toml constraints.txt
	@test -x $(PYTHON) || { \
		for python in python3 python3.14 python3.13 python3.12 python3.11; do \
			$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
		done || { echo "make: Python 3.11 or later is needed" >&2; exit 1; }; \
		$$python -m venv $(PREFIX); }
	$(PYTHON) -m pip install -c constraints.txt -e ".[test]"
	@printf '%s' "$(CURDIR)" > $@
