PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := pyproject.toml constraints.txt

# Compiled modules are kept. Without them every worker, and every program that a test starts,
# compiles all of the product and rewrites the assertions of all plugins of pytest.
unexport PYTHONDONTWRITEBYTECODE

# Twice as many processes as the two cores of CI: half of the time a test waits for a service.
PYTEST = $(BIN)/python -m pytest -q -n 4 --dist worksteal

# Tests that start services, and tests that run what is generated. All other folders test units.
SERVICES := $(addprefix tests/,cli drivers faults observed probes run session systems)
BINDINGS := $(addprefix tests/,render runtime targets)
FOLDERS := $(patsubst %/,%,$(sort $(dir $(wildcard tests/*/test_*.py))))
UNITS := $(filter-out $(SERVICES) $(BINDINGS),$(FOLDERS))

# The systems whose taxonomies docs/trace.md compares with their documents.
TRACED := $(patsubst %,examples/%/taxonomy.yaml,aileron alknet theodosia keenbench)

.PHONY: demo test check test-unit test-services test-bindings
.PHONY: real full search mutants docs botocore generate bench clean

demo: $(VENV)/.user
	$(BIN)/faultspec demo

test: check
	$(PYTEST)

# `make test` in four parts, which CI may run side by side.
check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy compiler conformance
	$(BIN)/faultspec lint
	$(BIN)/faultspec compile --check

test-unit: $(VENV)/.dev
	$(PYTEST) $(UNITS)

test-services: $(VENV)/.dev
	$(PYTEST) $(SERVICES)

test-bindings: $(VENV)/.dev
	$(PYTEST) $(BINDINGS)

# What takes long: every sin of the kill matrix, not only the first of each clause.
full: $(VENV)/.dev
	$(PYTEST) -m full

# Laws that hypothesis tests, each over hundreds of examples that it never drew before.
search: $(VENV)/.dev
	$(PYTEST) --hypothesis-profile=search -m hypothesis

# Changes one expression of the product at a time, and prints the changes that no test notices.
# `make mutants ONLY=compiler/faultspec/judge/code.py` takes minutes, without ONLY hours.
mutants: $(VENV)/.mutants
	$(BIN)/python benchmarks/mutants.py $(ONLY)

# Judges services that nobody here wrote, each over its own transport: brings them into .cache/,
# starts them on loopback, judges them, and stops them. The waivers.yaml of each lists its known
# findings. A new finding fails, and so does one that is gone.
real: $(VENV)/.user
	$(BIN)/python examples/kinto/run.py
	$(BIN)/python examples/theodosia/real/run.py
	$(BIN)/python examples/aria2/run.py
	$(BIN)/python examples/registry/run.py
	$(BIN)/python examples/etcd/run.py
	$(BIN)/python examples/moto/run.py

docs: $(VENV)/.dev
	$(BIN)/python -m faultspec.docs.pages docs
	$(BIN)/python -m faultspec.cli.schemas docs
	$(BIN)/python -m faultspec.docs.trace taxonomy.yaml $(TRACED) > docs/trace.md.new
	mv docs/trace.md.new docs/trace.md

# Imports every service of botocore and lints what came of it: under a minute, too long for each
# `make docs`.
botocore: $(VENV)/.dev
	$(BIN)/python -m faultspec.docs.botocore docs/botocore.md

generate: $(VENV)/.user
	$(BIN)/faultspec compile

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/detection.py
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/compile.py --peers
	$(BIN)/python benchmarks/judge.py
	$(BIN)/python benchmarks/audit.py
	$(BIN)/python benchmarks/verdicts.py

# A marker is touched only when the install went through, so an interrupted one is done again.
$(VENV)/.user: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable '.[mcp]'
	touch $@

$(VENV)/.dev: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	touch $@ $(VENV)/.user

$(VENV)/.mutants: $(VENV)/.dev
	$(PIP) install 'mutmut>=3.8,<4'
	touch $@

clean:
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
