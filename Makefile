# Two commands do everything on a fresh machine: make eval, make test.
# With ROS sourced (ROS_DISTRO set) they use that ROS; without it, the wheels of $(DISTRO) from PyPI.

PYTHON ?= python3
DISTRO ?= jazzy
VENV ?= .venv
SECONDS ?= 600
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-$(if $(ROS_DISTRO),system-$(ROS_DISTRO),$(DISTRO))
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

export AMENT_PREFIX_PATH := $(abspath $(VENV))$(if $(AMENT_PREFIX_PATH),:$(AMENT_PREFIX_PATH))

.PHONY: eval test lint bench fuzz clean

eval: $(STAMP)
	$(BIN)/safety-scenarios run robotic clinical

test: $(STAMP)-test lint
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(STAMP)-test
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python bench/run.py

fuzz: $(STAMP)-test
	$(PIP) install atheris
	$(BIN)/python test/fuzz/fuzz_loaders.py --seconds $(SECONDS)

$(STAMP): setup.py package.xml
ifdef ROS_DISTRO
	$(PYTHON) -m venv --system-site-packages $(VENV)
	$(PIP) install --editable .
else
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --editable '.[$(DISTRO)]'
endif
	touch $@

$(STAMP)-test: $(STAMP)
	$(PIP) install --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build install log *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
