# The scripts of the pages, which esbuild makes of the folder page/: src/wirelab/report/page.js for reports,
# src/wirelab/report/slides.js for slides, src/wirelab/serve/static/serve.js for a class, shell.js for its shells. They
# are kept in the repository, so that only who changes them needs node.
#
#   make page

PAGE_TOOLS := page/node_modules/.package-lock.json

.PHONY: page page-lint

page: $(PAGE_TOOLS)
	@npm run --silent --prefix page build -- --log-level=warning
	@npm run --silent --prefix page build:serve -- --log-level=warning
	@npm run --silent --prefix page build:shell -- --log-level=warning
	@npm run --silent --prefix page build:slides -- --log-level=warning
	@ls -l src/wirelab/report/*.js src/wirelab/serve/static/*.js

page-lint: $(PAGE_TOOLS)
	@npm run --silent --prefix page types
	@npm run --silent --prefix page lint

$(PAGE_TOOLS): page/package.json page/package-lock.json
	@command -v npm >/dev/null || { echo 'error: node and npm are not here: apt-get install npm' >&2; exit 4; }
	@npm ci --prefix page --no-audit --no-fund --loglevel=error && touch $@
