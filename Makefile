# Everything runs in a virtual environment of its own; python3 with venv and pip is all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles a module once, as where it is installed: the tests start hundreds of commands.
export PYTHONDONTWRITEBYTECODE :=
ROOTS := contract policy index planner pipeline adapters apps

.PHONY: demo test lint clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,lint,demo]"
	touch $@

demo: $(VENV)/.installed  ## the office example: plan, call, approve from another process, audit
	$(BIN)/python examples/office/demo.py

test: $(VENV)/.installed  ## all tests; then, on PostgreSQL, those whose store a configuration names
	$(BIN)/python -m pytest -n auto
	$(BIN)/python -m pytest -n auto --store=postgresql

lint: $(VENV)/.installed  ## style, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(ROOTS)
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
