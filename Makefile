# make demo    watch a simulated PUMA 560 weigh what it picks up
#              VIEW=1 shows it in a browser, too (docs/view.md)
# make test    everything that has to pass: lint, types, tests
# make test-all    the same with the long tests too: statistics of many runs, designs of motions, whole demos
# make lint    lint and types only
# make docs    the documentation as a site, in build/site
# make kills   kills the node COUNT times (200) while it writes, and looks at what it still knows: docs/kills.md
# make soak    HOURS (24) of simulated motion and MINUTES (60) of the real node: does anything grow? docs/soak.md
# make faults  every fault of sensors, data and stamps on a live node (docs/faults.md)
# make fuzz    COUNT (10000000) random messages through decoder, chain and node (docs/fuzz.md): a quarter of an hour
# make coverage    which lines of the package the tests run, in processes that they start and in kernels, too
# make mutation    COUNT (150) small mistakes in the load estimator and its input: which do tests notice? docs/mutation.md
# make clean   remove the environment and all caches
#
# The first call creates .venv (see tools/environment). PYTHON=python3.12 chooses the interpreter, 3.10 to 3.13.

# The matrices are small: more threads only wait for each other.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
# Tests start many processes: each of them would compile all that it imports anew.
unexport PYTHONDONTWRITEBYTECODE

KERNEL_TESTS := test/ros/test_decode.py $(addprefix test/core/,rows \
	$(foreach name,timeline timestamps smoothing,input/test_$(name).py) \
	$(foreach name,folding products,estimation/test_$(name).py) \
	$(foreach name,reading_faults convention_rules,checks/test_$(name).py))

.PHONY: demo test run-tests test-all lint docs coverage mutation faults fuzz kills soak clean environment

demo: environment
	@.venv/bin/inertid demo $(if $(VIEW),--view)

# Types take a minute where none are cached, on one core: the tests begin meanwhile.
test:
	@$(MAKE) --no-print-directory -j 2 lint run-tests

# Three processes keep two cores busy: tests of nodes wait for each other's messages half of their time.
run-tests: environment
	.venv/bin/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not long"

test-all: lint
	.venv/bin/python -m pytest -n 2 --dist loadfile --timeout 3600

lint: environment
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

docs: environment
	.venv/bin/mkdocs build --quiet
	@echo "Open build/site/index.html; its search needs a server: .venv/bin/mkdocs serve."

kills: environment
	.venv/bin/python benchmarks/kills.py --count $(or $(COUNT),200) --write

soak: environment
	.venv/bin/python benchmarks/soak.py --hours $(or $(HOURS),24) --minutes $(or $(MINUTES),60) --write

faults: environment
	.venv/bin/python benchmarks/faults.py --write

fuzz: environment
	.venv/bin/python benchmarks/fuzz.py --count $(or $(COUNT),10000000) --write

# Kernels are measured where nothing is compiled: by test_pure_python in a process of its own, and by their own tests.
coverage: environment
	@.venv/bin/pip install -qq --disable-pip-version-check coverage
	.venv/bin/coverage erase
	.venv/bin/coverage run -m pytest -n 2 --dist loadfile -m "not long"
	NUMBA_DISABLE_JIT=1 .venv/bin/coverage run -m pytest -n 2 --dist loadfile -m "not long" $(KERNEL_TESTS)
	.venv/bin/coverage combine --quiet
	.venv/bin/coverage report

mutation: environment
	.venv/bin/python benchmarks/mutation.py --count $(or $(COUNT),150) --write

environment:
	@PYTHON="$(PYTHON)" tools/environment

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
