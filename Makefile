PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := pyproject.toml requirements/user.txt requirements/dev.txt

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
.PHONY: real full search mutants docs site botocore generate bench dist fuzz lock clean

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

# What takes long: every sin of the kill matrix, not only the first of each family.
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
	$(BIN)/python examples/lsp/run.py
	$(BIN)/python examples/mcp/run.py

docs: $(VENV)/.dev
	$(BIN)/python -m faultspec.docs.pages docs
	$(BIN)/python -m faultspec.cli.schemas docs
	$(BIN)/python -m faultspec.docs.trace taxonomy.yaml $(TRACED) > docs/trace.md.new
	mv docs/trace.md.new docs/trace.md

# The website, in .cache/website/site. A link or an anchor that leads nowhere fails.
site: $(VENV)/.dev
	$(BIN)/python website/build.py

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

# Fuzzes what reads untrusted bytes, guided by coverage: `make fuzz SECONDS=3600`, for each target.
# It begins with the inputs of fuzz/corpus. What reaches new code is kept in .cache/fuzz.
SECONDS := 60
FUZZED := source openapi answer masking recording
fuzz: $(VENV)/.fuzz
	for target in $(FUZZED); do \
	  $(BIN)/python -m fuzz $$target .cache/fuzz/$$target $(SECONDS) || exit 1; \
	done

# What a release consists of: wheel, source archive, and the list of components (CycloneDX).
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/python requirements/sbom.py > dist/faultspec.cdx.json

# Pins every package that CI and users install, with the hashes of its files. After a change of
# dependencies; `make lock UPGRADE=--upgrade` takes the newest releases.
LOCK := pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-header --no-annotate --no-emit-index-url --no-emit-find-links
lock: $(VENV)/.lock
	$(BIN)/uv $(LOCK) $(UPGRADE) pyproject.toml --extra dev --output-file requirements/dev.txt
	$(BIN)/uv $(LOCK) pyproject.toml requirements/build.in \
	  --extra mcp --extra personal-data --extra cbor --extra proto \
	  --constraint requirements/dev.txt --output-file requirements/user.txt
	$(BIN)/uv $(LOCK) pyproject.toml requirements/build.in \
	  --constraint requirements/dev.txt --output-file requirements/compiler.txt
	for tool in go mutants fuzz lock; do \
	  $(BIN)/uv $(LOCK) requirements/tools/$$tool.in --constraint requirements/dev.txt \
	    --output-file requirements/tools/$$tool.txt || exit 1; \
	done

# A marker is touched only when the install went through, so an interrupted one is done again.
$(VENV)/.user: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --no-compile --require-hashes --requirement requirements/user.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --no-compile --require-hashes --requirement requirements/dev.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@ $(VENV)/.user

$(VENV)/.mutants: $(VENV)/.dev
	$(PIP) install --require-hashes --requirement requirements/tools/mutants.txt
	touch $@

$(VENV)/.fuzz: $(VENV)/.dev
	$(PIP) install --require-hashes --requirement requirements/tools/fuzz.txt
	touch $@

$(VENV)/.lock: $(VENV)/.dev
	$(PIP) install --require-hashes --requirement requirements/tools/lock.txt
	touch $@

clean:
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
