# The container image: ../Dockerfile.
#
#   make image-base image BASE=wirelab-base      where no image registry can be reached

DOCKER ?= docker
IMAGE ?= wirelab
BASE ?= debian:trixie-slim
BASE_IMAGE ?= wirelab-base
# The one that wheels are fetched for.
PYTHON_OF_BASE ?= 3.13
SOURCE ?= $(shell git config --get remote.origin.url 2>/dev/null | sed -n 's,^\(https\?://\)\([^/]*@\)\?,\1,p')

READY_TO_TEST_IMAGE := $(VENV)/.ready-to-test-image-$(HERE)

.PHONY: engine image image-base test-image bench-image

# Whatever the image is made of is laid out in dist/image: its build asks no network but for what the base lacks.
image: engine lab
	@echo 'laying out the wheels and the lab in dist/image'
	@rm -rf dist/image && mkdir -p dist/image/wheels
	@$(PIP) wheel --no-deps --wheel-dir dist/image/wheels .
	@$(PIP) download --only-binary=:all: --python-version '$(PYTHON_OF_BASE)' --platform manylinux_2_28_x86_64 \
		--platform manylinux2014_x86_64 --dest dist/image/wheels pip "$$(echo dist/image/wheels/wirelab-*.whl)[serve]"
	@$(VENV)/bin/wirelab lab export dist/image/lab
	@version=$$($(VENV)/bin/python -c 'import wirelab; print(wirelab.__version__)') && \
	$(DOCKER) build $(if $(filter $(BASE_IMAGE),$(BASE)),--network none) --build-arg 'BASE=$(BASE)' \
		--build-arg LAB=shipped --build-arg "VERSION=$$version" --build-arg 'SOURCE=$(SOURCE)' \
		--build-arg "REVISION=$$(git rev-parse HEAD 2>/dev/null)" \
		--tag '$(IMAGE)' --tag "$(IMAGE):$$version" .

image-base: engine $(READY)
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages root
	@echo 'installing a Debian for the base $(BASE_IMAGE)'
	@mkdir -p dist/image-base
	@$(VENV)/bin/python container/base.py dist/image-base/debian.tar
	@$(DOCKER) import --change 'LABEL org.opencontainers.image.base.name=$(BASE_IMAGE)' \
		dist/image-base/debian.tar '$(BASE_IMAGE)' && rm -r dist/image-base

engine:
	@command -v '$(firstword $(DOCKER))' >/dev/null || { \
		echo 'error: there is no $(firstword $(DOCKER)): apt-get install docker.io, or DOCKER="sudo docker"' >&2; exit 4; }

test-image: $(READY_TO_TEST_IMAGE) lab
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages image
	@$(VENV)/bin/python -m pytest tests/image $(ARGS)

bench-image: $(READY_TO_TEST_IMAGE) lab
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages image
	@$(VENV)/bin/python bench/image.py $(ARGS)

$(READY_TO_TEST_IMAGE): $(READY_TO_TEST)
	@$(PIP) install --group image
	@touch $@
