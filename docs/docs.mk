# The documentation: a site in docs/site that needs no server and loads nothing from elsewhere.
#
#   make docs
#   make site       pages with sliders of some exercises, in dist/site
#   make pages      both in docs/site, as they are published

READY_FOR_DOCS := $(VENV)/.ready-for-docs-$(HERE)

.PHONY: docs site pages

# MkDocs counts no warning that --quiet keeps to itself: with it, strict is not.
# What commands print and what scenarios measure comes from runs; what was measured before is not measured again.
docs: $(READY_FOR_DOCS) lab
	@PYTHONPATH=src:. $(VENV)/bin/python -m docs.generate
	@PYTHONPATH=src:. $(VENV)/bin/python -m docs.notebooks
	@rm -rf docs/build && mkdir -p docs/build
	@$(VENV)/bin/wirelab run --quiet --out docs/build/results >docs/build/verdicts.txt || \
		{ cat docs/build/verdicts.txt; exit 1; }
	@PYTHONPATH=src:. NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --strict --config-file docs/mkdocs.yml
	@echo 'docs/site/index.html'

site: $(READY) lab
	@PYTHONPATH=src:. $(VENV)/bin/python -m docs.explore '$(DIST)/site'

pages: docs site
	@rm -rf docs/site/explore && cp -R '$(DIST)/site' docs/site/explore

$(READY_FOR_DOCS): $(READY)
	@echo 'installing MkDocs into $(VENV)'
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group docs
	@touch $@
