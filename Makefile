# One entrance for people and CI. Every target sets up what it needs, in a virtual environment of its own.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP = $(VENV)/.installed-$(1)

.PHONY: demo test check bench docs clean

define install
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@if [ ! -e $(call STAMP,$(1)) ] || [ pyproject.toml -nt $(call STAMP,$(1)) ]; then \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(1)]" && touch $(call STAMP,$(1)); \
	fi
endef

demo: ## select on real data and print the trace, the final model and the collinearity notes
	$(call install,cli)
	$(BIN)/stepsel select data/prostate.csv --target lpsa --criterion bic

test: ## the whole test suite
	$(call install,test)
	$(BIN)/python -m pytest

check: ## style, types, layers, doctests
	$(call install,dev)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --doctest-modules --pyargs stepsel -o testpaths= -q

bench: ## speed against the arithmetic floor and against peers; writes docs/benchmarks.md
	$(call install,bench)
	$(BIN)/python -m benchmarks.run

docs: ## the documentation, every example run, into docs/_build/html; then a check of all its links
	$(call install,docs)
	$(BIN)/sphinx-build -E -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

clean:
	rm -rf $(VENV) build dist docs/_build docs/generated docs/auto_gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis
