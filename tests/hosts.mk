# wirelab as it is installed, elsewhere. Each system is fetched, which takes a mirror of its distribution.

HOSTS ?= bookworm trixie jammy noble

.PHONY: test-hosts test-emulated

test-hosts: $(READY_TO_TEST) lab
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages root
	@$(VENV)/bin/python -m pytest tests/hosts/test_hosts.py $(HOSTS:%=--host=%) $(ARGS)

# Ten minutes and more: a processor that is a program.
test-emulated: $(READY_TO_TEST) lab
	@PYTHONPATH=src $(PYTHON) -m wirelab.lab.packages root emulator
	@$(VENV)/bin/python -m pytest tests/hosts/test_emulated.py --emulated -rP $(ARGS)
