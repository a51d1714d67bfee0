# `make demo` and `make test` do all set-up on a machine that has python3, make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# The Python of the environment, or the one that will make it; its versions are pinned if there is a file for it.
VERSION := $(shell $(or $(wildcard $(BIN)/python),$(PYTHON)) -c "import sys; print('%d.%d' % sys.version_info[:2])")
PINS := $(wildcard constraints/$(VERSION).txt)
INSTALL := $(PIP) install $(addprefix --constraint ,$(PINS)) --editable
WORKERS ?= 2
# Files go out in order: the last are doctests, short ones, so that no worker is left with a long one.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
PORTABLE ?= tests/analysis tests/bounds
# Most of the time of the tests goes into compiling many small programs once: here without the compiler's slow passes.
QUICK_XLA := --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true
# A compiler that does not know a flag ends the process: one is known to all that are pinned, one to that of 3.11 alone.
QUICK_XLA += $(if $(PINS),--xla_cpu_parallel_codegen_split_count=1)
QUICK_XLA += $(if $(filter 3.11,$(VERSION)),--xla_cpu_use_fusion_emitters=false)

.PHONY: demo test test-portable acceptance lint bench docs clean

demo: $(VENV)/.core
	$(BIN)/paritylab reproduce --out out/demo

test: export XLA_FLAGS := $(QUICK_XLA) $(XLA_FLAGS)
test: $(VENV)/.dev lint
	$(PYTEST) --doctest-modules tests paritylab --ignore=paritylab/bench

# The numerical tests again as an x86 processor without AVX would run them: all sums are rounded in another order.
test-portable: export XLA_FLAGS := $(QUICK_XLA) $(XLA_FLAGS) --xla_cpu_max_isa=SSE4_2
test-portable: export OPENBLAS_CORETYPE := Prescott
test-portable: $(VENV)/.dev
	$(PYTEST) $(PORTABLE)

# What is too long for `make test`, and the engine's own tests as users compile it.
acceptance: $(VENV)/.bench
	$(BIN)/python -m pytest -m acceptance -v -s -o faulthandler_timeout=0
	$(BIN)/python -m pytest tests/training/test_engine.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/paritylab bench

# The site, in out/docs/html. Warnings are errors; nothing is fetched once all is installed.
docs: $(VENV)/.docs
	$(BIN)/python docs/site/make_site.py out/docs

$(VENV)/.python:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.core: pyproject.toml $(PINS) | $(VENV)/.python
	$(INSTALL) .
	touch $@

$(VENV)/.dev: pyproject.toml $(PINS) | $(VENV)/.python
	$(INSTALL) '.[dev,cluster]'
	touch $@ $(VENV)/.core

$(VENV)/.docs: pyproject.toml $(PINS) | $(VENV)/.python
	$(INSTALL) '.[docs]'
	touch $@ $(VENV)/.core

$(VENV)/.bench: pyproject.toml $(PINS) | $(VENV)/.python
	$(INSTALL) '.[dev,cluster,browser,bench,docs]'
	touch $@ $(VENV)/.dev $(VENV)/.docs $(VENV)/.core

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache
