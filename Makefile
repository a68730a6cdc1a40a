# Two commands do everything on a fresh machine: make eval, make test. For daily work: make check.
# With ROS sourced (ROS_DISTRO set) they use that ROS; without it, the wheels of $(DISTRO) from PyPI.

PYTHON ?= python3
DISTRO ?= jazzy
VENV ?= .venv
SECONDS ?= 600
# few: a tenth of the examples of each property, an eighth of the cases of a test with many (test/order.py), as in CI.
# all: every one, for hours.
EXAMPLES ?= few
export EXAMPLES
LINK ?= ros
FACTOR ?= 0
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-$(if $(ROS_DISTRO),system-$(ROS_DISTRO),$(DISTRO))
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# uv is quicker by minutes. It does not see what ROS has installed, so with ROS pip does it; and it does not read the
# settings of pip, such as that of another index, so pip does it too where uv fails.
UV := $(if $(ROS_DISTRO),false,$(BIN)/python -m uv pip install --quiet --compile-bytecode)
PINS := test/constraints.txt $(if $(ROS_DISTRO),,test/constraints-numpy.txt)
PYTEST := $(BIN)/python -m pytest
# launch_testing and launch_ros of ROS install plug-ins that pytest 9 refuses to start with; no test of ours needs them.
ifdef ROS_DISTRO
export PYTEST_ADDOPTS += -p no:launch_testing -p no:launch_ros
endif
# First what computes, then what measures exactly, last what else talks DDS (test/alone.py). A file is what a worker gets, the slow ones first (test/order.py).
# One that a busy machine has made late is tried once more: they are named at the end, and the last line counts them.
DDS := test/ros test/contract/test_are_calls.py test/contract/test_noble.py
BESIDE := $(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder
AGAIN := --reruns 1 -r sR

export AMENT_PREFIX_PATH := $(abspath $(VENV))$(if $(AMENT_PREFIX_PATH),:$(AMENT_PREFIX_PATH))

# Commands are started hundreds of times: without these files each compiles the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: eval test prepared check lint environments interfaces collected bench fuzz docs reference clean

# Closed loop: evaluator, simulator and controller are three processes, in lock-step, so that a busy machine changes no
# verdict, and with words read by patterns. FACTOR=3: in real time, three times as fast as a robot. LINK=simulated: all
# in one process, in seconds.
# First the rule, whose verdict counts, then a learned policy on the same trials, and both side by side.
PACE = $(if $(filter 0,$(FACTOR)),--set clock.lockstep=true) --set real_time_factor=$(FACTOR)
NOW := $(shell date -u +%Y%m%d-%H%M%S)
# Not the time, which a controller could guess.
SEED := $(shell $(PYTHON) -c 'import secrets; print(secrets.randbelow(2**31))')
RUN = $(BIN)/safety-scenarios run robotic --link $(LINK) --world mujoco $(PACE) --words patterns --set connect_timeout_s=60 --seed $(SEED)
eval: $(STAMP)
	$(RUN) --output runs/$(NOW)/rule_based
	-$(RUN) --controller learned --output runs/$(NOW)/learned
	-$(BIN)/safety-scenarios compare runs/$(NOW)/rule_based runs/$(NOW)/learned

test: prepared
	$(BESIDE) -m 'not alone' $(AGAIN)
	$(PYTEST) -m exact $(AGAIN) test/ros
	$(BESIDE) -n 3 -m 'alone and not exact' $(AGAIN) $(DDS)

check: $(STAMP)-test lint
	$(BESIDE) -m 'not alone and not environment and not slow and not linter'

lint: $(STAMP)-test
	$(BIN)/ruff check .
	$(BIN)/mypy

# What tests would build first of all, and wait for; one that cannot be built fails its tests, and not here.
prepared: $(VENV)/.uv
	$(MAKE) --jobs 2 $(STAMP)-test environments
	$(MAKE) --jobs 2 lint collected

environments:
	-$(BIN)/python test/environments.py are $(if $(filter all,$(EXAMPLES)),noble)

interfaces: $(STAMP)-test
	-$(BIN)/python test/environments.py interfaces > /dev/null

# The tests are compiled while mypy has the other core, and not by each worker anew.
collected: interfaces
	-$(PYTEST) --collect-only --quiet > /dev/null

bench: $(STAMP)
	$(BIN)/python bench/run.py

fuzz: $(STAMP)-test
	$(PIP) install atheris
	$(BIN)/python test/fuzz/fuzz_loaders.py --seconds $(SECONDS)

# The pages of doc/ as a site in doc/_build; no warning, no link that leads nowhere.
docs: $(STAMP)
	$(PIP) install --requirement doc/requirements.txt
	$(BIN)/python -m sphinx -W --keep-going --quiet -b html doc doc/_build

# The pages of the reference that are written from models and docstrings.
reference: $(STAMP)-test
	$(BIN)/python doc/generate.py

COMMA := ,
EXTRAS := $(if $(ROS_DISTRO),,$(DISTRO)$(COMMA))policy,sim,report
$(VENV)/.uv: test/constraints.txt
	$(PYTHON) -m venv $(if $(ROS_DISTRO),--system-site-packages) $(VENV)
	$(PIP) install --constraint test/constraints.txt uv
	touch $@

$(STAMP): setup.py package.xml $(VENV)/.uv
	$(UV) --editable '.[$(EXTRAS)]' || $(PIP) install --editable '.[$(EXTRAS)]'
	touch $@

# The paths are relative, for pip takes a blank in them for an end; the second variable is that of pip 25.3 and later.
$(STAMP)-test: export PIP_CONSTRAINT = $(PINS)
$(STAMP)-test: export PIP_BUILD_CONSTRAINT = $(PINS)
$(STAMP)-test: export UV_CONSTRAINT = $(PINS)
$(STAMP)-test: export UV_BUILD_CONSTRAINT = $(PINS)
$(STAMP)-test: setup.py package.xml $(PINS) $(VENV)/.uv
	$(UV) --editable '.[$(EXTRAS),test]' || $(PIP) install --editable '.[$(EXTRAS),test]'
	touch $(STAMP) $@

clean:
	rm -rf $(VENV) build install log doc/_build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
