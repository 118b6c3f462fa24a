# Many machines: playbooks/README.md.
#
#   make fleet-provision INVENTORY=my-fleet.yml
#   make fleet-matrix INVENTORY=my-fleet.yml ARGS="-e scenarios='sfp-*'"

INVENTORY ?=
RELEASES ?= bookworm trixie noble

READY_FOR_FLEET := $(VENV)/.ready-for-fleet-$(HERE)
READY_TO_TEST_FLEET := $(VENV)/.ready-to-test-fleet-$(HERE)

.PHONY: fleet-provision fleet-matrix fleet-classroom fleet-serve fleet-teardown inventory test-fleet \
	test-releases bench-fleet

fleet-provision fleet-matrix fleet-classroom fleet-serve fleet-teardown: fleet-%: inventory lab $(READY_FOR_FLEET)
	@ANSIBLE_CONFIG=playbooks/ansible.cfg $(VENV)/bin/ansible-playbook -i '$(INVENTORY)' playbooks/$*.yml $(ARGS)

inventory:
	@test -n '$(INVENTORY)' || { echo 'error: which machines? make fleet-provision INVENTORY=my-fleet.yml;' \
		'playbooks/inventory/example.yml shows one' >&2; exit 2; }

test-fleet: $(READY_TO_TEST_FLEET) lab
	@$(VENV)/bin/python -m pytest tests/fleet $(ARGS)

# Of each is fetched a minimal system, which takes a mirror of Debian and one of Ubuntu.
test-releases: $(READY_TO_TEST_FLEET) lab
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages root
	@$(VENV)/bin/python -m pytest tests/fleet/test_releases.py $(RELEASES:%=--release=%) $(ARGS)

bench-fleet: $(READY_TO_TEST_FLEET) lab
	@$(VENV)/bin/python bench/fleet.py $(ARGS)

$(READY_FOR_FLEET): $(READY)
	@echo 'installing Ansible into $(VENV)'
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group fleet
	@touch $@

$(READY_TO_TEST_FLEET): $(READY_TO_TEST) $(READY_FOR_FLEET)
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages fleet
	@$(PIP) install --group fleet-test
	@touch $@
