PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := pyproject.toml constraints.txt

.PHONY: demo test real full search docs botocore generate bench clean

demo: $(VENV)/.user
	$(BIN)/faultspec demo

# A file of tests stays with one worker: what it makes once, such as the runs of the kill matrix, is made once.
test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy compiler conformance
	$(BIN)/faultspec lint taxonomy.yaml examples/*/taxonomy.yaml
	$(BIN)/faultspec compile --check
	for each in examples/*/; do $(BIN)/faultspec compile --check $${each}taxonomy.yaml --out $${each}generated || exit 1; done
	$(BIN)/python -m pytest -n 2 --dist loadfile -q

# What takes long: every sin of the kill matrix, not only the first of each clause.
full: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile -q -m full

# Laws that hypothesis tests, over examples that it never drew before.
search: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile -q --hypothesis-profile=search -m hypothesis

# Judges services that nobody here wrote, each over its own transport: brings them into .cache/, starts them on loopback, judges them,
# stops them. What is known of each stands in its waivers.yaml; a finding that is new, and one that is gone, fails.
real: $(VENV)/.user
	$(BIN)/python examples/kinto/run.py
	$(BIN)/python examples/theodosia/real/run.py
	$(BIN)/python examples/aria2/run.py

docs: $(VENV)/.dev
	$(BIN)/python -m faultspec.docs.pages docs
	$(BIN)/python -m faultspec.docs.trace taxonomy.yaml $(foreach system,aileron alknet theodosia keenbench,examples/$(system)/taxonomy.yaml) > docs/trace.md.new
	mv docs/trace.md.new docs/trace.md

# Imports every service of botocore and lints what came of it: under a minute, too long for each `make docs`.
botocore: $(VENV)/.dev
	$(BIN)/python -m faultspec.docs.botocore docs/botocore.md

generate: $(VENV)/.user
	$(BIN)/faultspec compile
	for each in examples/*/; do $(BIN)/faultspec compile $${each}taxonomy.yaml --out $${each}generated || exit 1; done

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/detection.py
	$(BIN)/python benchmarks/compile.py --peers
	$(BIN)/python benchmarks/judge.py
	$(BIN)/python benchmarks/audit.py

# A marker is touched only when the install went through, so an interrupted one is done again.
$(VENV)/.user: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable '.[mcp]'
	touch $@

$(VENV)/.dev: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	touch $@ $(VENV)/.user

clean:
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
