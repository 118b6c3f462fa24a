# wirelab in one command: whatever is missing is set up first, and each step is skipped where it is done.
#
#   make scenario NAME=sfp-mismatch
#   make test

PYTHON ?= python3
NAME ?=
ARGS ?=
SERIES ?=
# Whatever it says: no lab that was built elsewhere is taken.
FROM_SOURCE ?=

# Where the lab is not what was asked for, it is worth a line only if it has to be built.
QUIETLY := $(if $(filter lab,$(MAKECMDGOALS)),,--quiet)

# A virtual environment holds absolute paths: the stamp is named after the folder, so a moved checkout gets a new one.
VENV := .venv
HERE := $(shell pwd | cksum | cut -d ' ' -f 1)
READY := $(VENV)/.ready-$(HERE)
READY_TO_TEST := $(VENV)/.ready-to-test-$(HERE)
PIP := $(VENV)/bin/python -m pip --quiet --disable-pip-version-check

# Where wheels go.
DIST ?= dist
# Of a wheel: the same date in every one, so that the same content is the same bytes. 1980-01-01 is a zip's first day.
EPOCH := 315532800

.PHONY: help scenario name lab wheels test fuzz stress test-series test-explain test-exercises test-serve test-tour
.PHONY: test-peers matrix truth bench doctor clean
.DELETE_ON_ERROR:

help:
	@echo 'make scenario NAME=sfp-mismatch   run a scenario; the folder scenarios/ names them all'
	@echo 'make test                         the linters, the unit tests and the lab tests'
	@echo 'make fuzz                         read ten thousand damaged files; ARGS="--first-mutation 20000" takes others'
	@echo 'make stress                       random settings of ports on a kernel with KASAN; a kernel without shortcuts'
	@echo 'make test-series                  the lab tests on the kernels 6.12 and 6.1, or on SERIES'
	@echo 'make test-explain                 whether what helps most is what a control does: hundreds of labs'
	@echo 'make test-exercises               every exercise, done with the figures of each of 200 students'
	@echo 'make matrix                       run every scenario, as many at once as there are CPUs'
	@echo 'make truth                        hold the lab against independent measurements of real equipment'
	@echo 'make bench                        measure how fast the labs are here; AGAINST=REVISION measures both in turns'
	@echo '                                  and PEER=ns-3 the same flows in ns-3, in turns with the lab'
	@echo 'make lab                          only have the lab kernel and the root image; FROM_SOURCE=1 builds them'
	@echo 'make wheels                       wirelab and its built lab, wirelab-lab, as wheels in dist/'
	@echo 'make doctor                       what this machine lacks, and the lines that help'
	@echo 'make image                        the container image, with the lab of this machine'
	@echo 'make image-base                   a base for it where no registry is: make image BASE=wirelab-base'
	@echo 'make test-image                   the tests of the image, with an engine of their own if none answers'
	@echo 'make fleet-provision INVENTORY=F  make the machines of an Ansible inventory workers; fleet-matrix runs on them'
	@echo 'make test-fleet                   the tests of the playbooks, with hosts in network namespaces'
	@echo 'make ci-run SCENARIOS="sfp-*"     what a CI job does, with its reports; ci/README.md has the other steps'
	@echo 'make test-ci                      the tests of the workflows, as far as a machine without GitHub can'
	@echo 'make test-hosts                   from the two wheels to a verdict on other systems; test-emulated: processors'
	@echo 'make test-peers                   scripts of others, as they are: the tests of Mininet, its examples, the kernel'
	@echo 'make test-serve                   a class of thirty on a real lab, and a server that is killed twenty times'
	@echo 'make test-tour                    two students and their teacher do every exercise in a browser'
	@echo 'make docs                         the documentation, as a site in docs/site that needs no server'
	@echo 'make site                         pages with sliders of some exercises, in dist/site'
	@echo 'make page                         the script of the pages, of its sources; page-lint: is it sound?'
	@echo 'make clean                        remove the virtual environment and what tools left here'
	@echo
	@echo 'ARGS="--seed 2" goes to the command. WIRELAB_LAB=FILE, or URL#sha256=HEX, is a lab that need not be built.'
	@echo 'PYTHON=python3.12 and SERIES=6.12 choose the Python and the kernel.'
	@echo 'The lab is kept in $${WIRELAB_CACHE:-$${XDG_CACHE_HOME:-~/.cache}/wirelab}; `wirelab lab prune` tidies up there.'

scenario: name lab
	@$(VENV)/bin/wirelab run $(ARGS) '$(NAME)'

name:
	@test -n '$(NAME)' || { echo 'error: which scenario? make scenario NAME=sfp-mismatch' >&2; exit 2; }

lab: $(READY)
	@$(VENV)/bin/wirelab lab build --install-packages $(QUIETLY) $(if $(SERIES),--series '$(SERIES)') \
		$(if $(FROM_SOURCE),--from-source)

wheels: $(READY) lab
	@rm -rf '$(DIST)/lab-wheel' && mkdir -p '$(DIST)' && cp -R lab-wheel '$(DIST)/lab-wheel'
	@cp kernel/driver/LICENSE '$(DIST)/lab-wheel'
	@$(VENV)/bin/wirelab lab export '$(DIST)/lab-wheel/wirelab_lab/lab.tar'
	@$(VENV)/bin/wirelab lab source >'$(DIST)/lab-wheel/wirelab_lab/SOURCES'
	@for project in . '$(abspath $(DIST))/lab-wheel'; do \
		SOURCE_DATE_EPOCH=$(EPOCH) $(PIP) wheel --no-deps --wheel-dir '$(DIST)' "$$project" || exit; done
	@rm -r '$(DIST)/lab-wheel' && ls -l '$(DIST)'/*.whl

test: $(READY_TO_TEST) lab
	@$(VENV)/bin/python -m pytest -n auto --dist worksteal $(ARGS)

fuzz: $(READY_TO_TEST)
	@$(VENV)/bin/python -m pytest -n auto tests/unit/test_model_mutations.py --mutations 10000 $(ARGS)

stress: $(READY_TO_TEST) lab
	@$(VENV)/bin/python -m pytest --timeout 0 tests/stress $(ARGS)

# The lab tests on the other kernels that the driver is for; one that is not there is built, of Debian's source.
test-series: $(READY_TO_TEST)
	@for series in $(or $(SERIES),6.12 6.1); do \
		$(VENV)/bin/wirelab lab build --quiet --series $$series && \
		$(VENV)/bin/python -m pytest -n auto --dist worksteal tests/lab --kernel $$series $(ARGS) || exit; done

test-explain: $(READY_TO_TEST) lab
	@$(VENV)/bin/python -m pytest --timeout 0 tests/explain $(ARGS)

test-serve: $(READY_TO_TEST) lab
	@PYTHONPATH=tests/unit $(VENV)/bin/python -m pytest --capture=no tests/serve/test_class.py tests/serve/test_proxy.py $(ARGS)

# Every exercise as students do it, in a browser on a real lab. Pictures of all that they see are in dist/tour.
test-tour: $(READY_TO_TEST) lab
	@mkdir -p '$(DIST)/tour'
	@PYTHONPATH=tests/unit:. WIRELAB_SHOTS='$(abspath $(DIST))/tour' \
		$(VENV)/bin/python -m pytest tests/serve/test_tour.py $(ARGS)

# Every network that any of 200 students has, and the scenarios as they are; what was measured before is not measured
# again.
test-exercises: $(READY_TO_TEST) lab
	@$(VENV)/bin/python -m pytest -n auto --dist worksteal tests/exercises exercises/*/scenario.yaml $(ARGS)

# Other people's scripts: Mininet's own tests, its examples', packetdrill's, the kernel's of its network. Mirrors are
# asked for what is not there.
test-peers: $(READY_TO_TEST) lab
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages selftests
	@$(VENV)/bin/wirelab lab build --quiet --with course
	@$(VENV)/bin/wirelab lab build --quiet --series 7.2-full
	@$(VENV)/bin/python -m pytest --timeout 0 tests/peers $(ARGS)

matrix: lab
	@$(VENV)/bin/wirelab run $(ARGS)

truth: lab
	@$(VENV)/bin/wirelab truth $(ARGS)

bench: $(READY_TO_TEST) lab
	@$(VENV)/bin/python bench/$(if $(PEER),peer.py $(PEER),$(if $(AGAINST),pair.py $(AGAINST),bench.py)) $(ARGS)

include container/image.mk
include playbooks/fleet.mk
include ci/ci.mk
include ci/release.mk
include docs/docs.mk
include page/page.mk

doctor: $(READY)
	@$(VENV)/bin/wirelab doctor

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'error: $(PYTHON) is not Python 3.11 or newer: make PYTHON=python3.12' >&2; exit 4; }
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages venv
	@echo 'making the virtual environment $(VENV)'
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --editable .
	@touch $@

# Dependency groups came with pip 25.1.
$(READY_TO_TEST): $(READY)
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages test
	@echo 'installing the test tools into $(VENV)'
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group dev
	@touch $@

clean:
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis '$(DIST)' docs/build docs/site
	@find . -path ./.git -prune -o -name __pycache__ -prune -exec rm -rf {} +
