# One command each; `make` alone lists them. Everything happens inside this folder.
PYTHON ?= python3
VENV ?= .venv
JOBS ?= auto
FUZZ_MINUTES ?= 15
FUZZ_SEED ?= 0
TORTURE_SIGNALS ?= 1000
TORTURE_SEED ?= 0

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CORE := $(wildcard src/hopscale/_core/*.cpp src/hopscale/_core/*.hpp)
# What an installation is made from; Python sources are read where they lie.
BUILD := pyproject.toml CMakeLists.txt $(CORE)
LOCK := requirements-dev.txt
TORCH := requirements-torch.txt
BENCHMARKS := $(filter-out $(addprefix %/,measure.py network_changes.py libraries.py reference.py readme.py choosing_vectors.py \
	compared.py large_graph.py first_picture.py large_parts.py),$(wildcard benchmarks/*.py))

.DEFAULT_GOAL := help
.PHONY: help demo test check test-browser screenshots docs wheel setup lock format fuzz torture sanitize attacks bench readme clean distclean always

help:
	@echo "make demo       learn, score, search and explain on built-in data"
	@echo "make test       all checks: lint, types, imports, spelling, doctests, tests"
	@echo "make test-browser  tests of pages in a browser, which must be there; make test skips them without one"
	@echo "make screenshots   pictures of the explorer in docs/figures (needs a browser, and HOPSCALE_DATA)"
	@echo "make setup      a virtual environment with everything that development needs, in $(VENV)"
	@echo "make check      the checks that read the code without running it"
	@echo "make docs       build the documentation into build/docs, run its examples and check its links"
	@echo "make wheel      build a wheel and a source archive into dist, and test both in fresh environments"
	@echo "make lock       pin the development tools anew, with their hashes, in $(LOCK) (needs uv)"
	@echo "make format     format the code"
	@echo "make fuzz       random inputs for every door (FUZZ_MINUTES=15 FUZZ_SEED=0 JOBS=auto), counted in docs"
	@echo "make torture    signals, full disks and several writers (TORTURE_SIGNALS=1000 TORTURE_SEED=0), counted in docs"
	@echo "make sanitize   tests of the core under the sanitizers for addresses, undefined behaviour and threads"
	@echo "make attacks    all of these and the limits of memory, into docs/robustness.md"
	@echo "make bench      run the benchmarks (HOPSCALE_DATA must name a folder of data sets)"
	@echo "make readme     copy the benchmarks' results into README.md and docs"
	@echo "make clean      remove what was built; make distclean: and $(VENV)"
	@echo "Another Python: make PYTHON=/path/to/python3 ..."

demo: $(VENV)/.installed
	$(BIN)/hopscale demo

test: check
	$(BIN)/pytest -q -n $(JOBS) --doctest-modules src --ignore-glob="*_triton.py"  # needs a GPU's library
	$(BIN)/pytest -q -n $(JOBS)

test-browser: $(VENV)/.developing
	HOPSCALE_TEST_BROWSER=1 $(BIN)/pytest -q tests/browser

screenshots: $(VENV)/.developing
	$(BIN)/python benchmarks/explorer.py --screenshots docs/figures

check: $(VENV)/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/clang-format --dry-run --Werror $(CORE)

# Warnings are errors; nothing is downloaded. The manual page is build/man/hopscale.1.
docs: $(VENV)/.developing
	$(BIN)/sphinx-build --builder html --fail-on-warning --keep-going --jobs 2 docs build/docs
	$(BIN)/sphinx-build --builder man --quiet --doctree-dir build/docs/.doctrees docs build/man
	$(BIN)/python docs/check_links.py build/docs
	$(BIN)/pytest -q -n $(JOBS) tests/test_pages.py

wheel: $(VENV)/.developing
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python .ci/wheel.py

setup: $(VENV)/.developing

lock:
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header --no-emit-index-url \
		--upgrade --extra dev --output-file $(LOCK) pyproject.toml

format: $(VENV)/.developing
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CORE)

fuzz: $(VENV)/.developing
	$(BIN)/python -m tests.fuzz --minutes $(FUZZ_MINUTES) --seed $(FUZZ_SEED) --jobs $(JOBS) \
		--table benchmarks/results/fuzz.md --report build/fuzz.jsonl; \
		status=$$?; $(BIN)/python benchmarks/readme.py; exit $$status

# The core of its own for each sanitizer is in build; with GCC on Linux only. Random inputs, which are of one thread,
# need pyarrow and polars, which do not load under the sanitizer of threads.
SANITIZED := $(addprefix tests/,test_kernels.py test_kernel_hops.py test_kernel_rows.py test_kernel_arguments.py test_panels.py test_sgns.py test_threads.py \
	test_io_readers.py test_concurrency.py::TestThreads)
RANDOM := $(foreach door,kernels edge_files feature_files, \
	"tests/fuzz/test_fuzz.py::test_random_inputs_are_answered[$(door)]")

sanitize: $(VENV)/.developing
	tests/sanitize/run $(BIN)/python address $(SANITIZED) $(RANDOM)
	tests/sanitize/run $(BIN)/python thread $(SANITIZED)

torture: $(VENV)/.developing
	$(BIN)/python tests/torture --signals $(TORTURE_SIGNALS) --seed $(TORTURE_SEED) --write

# All that docs/robustness.md counts, anew: about an hour on two cores.
attacks: sanitize torture fuzz
	$(BIN)/python benchmarks/memory_limits.py
	$(BIN)/python benchmarks/blas_kernels.py
	$(BIN)/python benchmarks/readme.py

bench: $(VENV)/.developing
	@test -n "$$HOPSCALE_DATA" || { echo "make bench: HOPSCALE_DATA must name the folder of the data sets" >&2; exit 1; }
	set -e; for program in $(BENCHMARKS); do $(BIN)/python $$program; done
	$(BIN)/python benchmarks/choosing_vectors.py
	$(BIN)/python benchmarks/compared.py
	$(BIN)/python benchmarks/readme.py

readme: $(VENV)/.installed
	$(BIN)/python benchmarks/choosing_vectors.py
	$(BIN)/python benchmarks/compared.py
	$(BIN)/python benchmarks/readme.py

clean:
	rm -rf build dist docs/api docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)

# An editable installation reads Python files in src and keeps the compiled core in the virtual environment: what is
# tested is this checkout. For users' own installations build tools come from the package index, into an environment
# that pip throws away; for development everything is pinned, and pip refuses what does not have the hash in $(LOCK);
# $(TORCH) says why PyTorch alone is pinned without one.
$(VENV)/.installed: $(BUILD) $(VENV)/.sources
	@echo "Installing hopscale into $(VENV); its C++ core is compiled, which takes about a minute"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.locked: $(LOCK) $(TORCH) $(VENV)/.made
	@echo "Installing development tools into $(VENV)"
	@$(PIP) install --require-hashes --requirement $(LOCK)
	@$(PIP) install --requirement $(TORCH)
	@touch $@

$(VENV)/.developing: $(BUILD) $(VENV)/.sources $(VENV)/.locked
	@echo "Installing hopscale into $(VENV); its C++ core is compiled, which takes about a minute"
	@PATH="$(abspath $(BIN)):$$PATH" $(PIP) install --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.installed $@

# The installation knows its modules by name: one that is added, moved or removed asks for another.
$(VENV)/.sources: $(VENV)/.made always
	@find src -name '*.py' | LC_ALL=C sort | cmp -s - $@ || find src -name '*.py' | LC_ALL=C sort > $@

$(VENV)/.made:
	@command -v $(PYTHON) > /dev/null || \
		{ echo "There is no '$(PYTHON)' here: say which Python to use, as in make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "hopscale needs Python 3.10 or newer, but '$(PYTHON)' is $$($(PYTHON) -V 2>&1):" \
			"say which to use, as in make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || \
		{ echo "'$(PYTHON)' has no venv module: install it (on Debian and Ubuntu: apt install python3-venv)," \
			"or say which Python to use, as in make PYTHON=/path/to/python3" >&2; exit 1; }
	@command -v "$${CXX:-c++}" > /dev/null || command -v g++ > /dev/null || command -v clang++ > /dev/null || \
		{ echo "There is no C++ compiler here: install one (on Debian and Ubuntu: apt install g++;" \
			"on macOS: xcode-select --install), or name it in CXX" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	@touch $@
