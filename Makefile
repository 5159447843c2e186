# Two commands do everything: `make demo` and `make test`. Both are safe to repeat.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test quick check docs release integrations train-check pins clean

# The project itself, with the parts a user of everything installs, at pinned versions. Its build fetches the
# dashboard's scripts with npm; where there is none, with the one that a pinned Node from PyPI brings.
$(VENV)/.base: requirements.txt requirements-node.txt pyproject.toml hatch_build.py src/prowess/web/vendor.toml
	$(PYTHON) -m venv $(VENV)
	command -v npm >/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-node.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# What the quick tests need beside it.
$(VENV)/.quick: requirements-quick.txt $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-quick.txt
	@touch $@

# What all tests need beside it, PostgreSQL included.
$(VENV)/.dev: requirements-dev.txt $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

demo: $(VENV)/.base
	@$(BIN)/python -m demo

test: $(VENV)/.dev
	@$(BIN)/python -m tests.support.chromium
	$(BIN)/python -m pytest -n 2

# The tests that need Python alone, for while you work; `make test` runs these, too.
quick: $(VENV)/.quick
	$(BIN)/python -m pytest -n 2 --quick -p no:schemathesis

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation as a site, in build/site; a link that leads nowhere ends it. In an environment of its own.
.venv-docs/.made: requirements-docs.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
	@touch $@

docs: .venv-docs/.made
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m scripts.site
	@echo "build/site/index.html is there; to search in it: $(PYTHON) -m http.server -d build/site"

# Wheel, sdist, SBOM, licences and notes in dist/, tried in empty environments. Not among the tests: it takes minutes.
release:
	PYTHON="$(PYTHON)" sh scripts/release

# Each integration with the framework it is for. Not among the tests: each has an environment of its own.
integrations:
	PYTHON="$(PYTHON)" sh scripts/integrations

# Every step of making the encoder, tiny, on a CPU. Not among the tests: its own environment has torch, 5 GB of it.
train-check:
	sh train/check.sh build/train

# Pins are exact versions with hashes and no address, so that any index may serve them.
pins: $(VENV)/.dev
	sh scripts/pins

clean:
	rm -rf $(VENV) .venv-integrations .venv-docs
