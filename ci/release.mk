# A release, a target for each step: .github/workflows/release.yml starts nothing else, so all of it can be done by hand.
#
#   make release-check TAG=v0.1.0      whether tag, version and changelog agree
#   make release-files                 dist/release: both wheels, the lab archive, an SBOM, the notes
#   make release-source                the source of the lab in a file beside them
#   make release-image                 the container image in a file beside them
#   make release-sums                  the checksums of them all
#   make release-github TAG=v0.1.0     publish them at GitHub, with its program gh
#   make release-pypi                  upload the wheels; twine's own variables say where, and as whom

RELEASE_STEPS := release-check release-sums release-github
READY_TO_UPLOAD := $(VENV)/.ready-to-upload-$(HERE)

.PHONY: $(RELEASE_STEPS) release-files release-source release-image release-pypi test-hosts test-emulated

# As ci.mk has it for its variables: whatever a tag is called, no shell reads it and make expands nothing in it.
$(RELEASE_STEPS): override export TAG := $(value TAG)

$(RELEASE_STEPS): release-%: $(READY)
	@$(VENV)/bin/python -m ci.release $*

release-files: wheels
	@$(VENV)/bin/python -m ci.release files

release-source: $(READY) lab
	@rm -rf dist/lab-source && mkdir -p dist/release
	@$(VENV)/bin/wirelab lab source --packages dist/lab-source
	@$(VENV)/bin/python -m ci.release source
	@rm -r dist/lab-source

release-image: image
	@mkdir -p dist/release
	@version=$$($(VENV)/bin/python -c 'import wirelab; print(wirelab.__version__)') && \
		file=dist/release/wirelab-image-$$version.tar && \
		$(DOCKER) save --output "$$file" "$(IMAGE):$$version" && gzip --no-name --force "$$file"

release-pypi: $(READY) $(READY_TO_UPLOAD)
	@$(VENV)/bin/python -m ci.release pypi

$(READY_TO_UPLOAD): $(READY)
	@echo 'installing twine into $(VENV)'
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group release
	@touch $@

# What the wheels do elsewhere. Each system is fetched, which takes a mirror of its distribution.
HOSTS ?= bookworm trixie jammy noble

test-hosts: $(READY_TO_TEST) lab
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages root
	@$(VENV)/bin/python -m pytest tests/hosts/test_hosts.py tests/hosts/test_escapes.py $(HOSTS:%=--host=%) $(ARGS)

# Ten minutes and more: a processor that is a program.
test-emulated: $(READY_TO_TEST) lab
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages root emulator
	@$(VENV)/bin/python -m pytest tests/hosts/test_emulated.py --emulated -rP $(ARGS)
