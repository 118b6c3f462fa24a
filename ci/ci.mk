# What continuous integration does, a target for each step: action.yml, .github/workflows and ci/gitlab.yml start
# nothing else, so all of it can be done by hand. ci/README.md says what the variables mean.
#
#   make ci-run SCENARIOS='sfp-* autoneg-matrix'
#   make ci-shards SCENARIOS='sfp-*' SHARDS=4
#   SCENARIOS=scenarios/my.yaml SEEDS=3 FOLDER=~/my-networks make ci-run

CI_STEPS := ci-check ci-shards ci-lab-key ci-lab ci-run ci-summary
CI_VARIABLES := DO FOLDER SCENARIOS SEEDS SERIES JOBS SHARDS SHARD OUT COLLECTED LAB FAIL_ON

ACTIONLINT_VERSION := v1.7.12
GO ?= go
READY_TO_TEST_CI := $(VENV)/.ready-to-test-ci-$(HERE)

.PHONY: $(CI_STEPS) test-ci

# Each is handed on as it was written, in the environment: it may be a stranger's. In a command line it would be
# read by the shell, and even on its way into the environment make would carry out a $(shell) in it.
define ci_verbatim
$(CI_STEPS): override export $(1) := $$(value $(1))
endef
$(foreach name,$(CI_VARIABLES),$(eval $(call ci_verbatim,$(name))))

$(CI_STEPS): ci-%: $(READY)
	@$(VENV)/bin/python -m ci.job $*

test-ci: $(READY_TO_TEST_CI) lab
	@$(VENV)/bin/python -m pytest -n auto --dist worksteal tests/ci $(ARGS)

# Of a machine without Go, actionlint is not asked: its test is skipped and says so.
$(READY_TO_TEST_CI): $(READY_TO_TEST) ci/ci.mk
	@$(PIP) install --group ci
	@if command -v actionlint >/dev/null; then :; elif command -v '$(GO)' >/dev/null; then \
		echo 'installing actionlint into $(VENV)' && \
		GOBIN="$$PWD/$(VENV)/bin" '$(GO)' install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION); \
	fi
	@touch $@
