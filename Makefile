.PHONY: help up test lint docs bench engine lock clean

help: ## Say what the targets do
	@sed -n 's/^\([a-z]*\): ## /  make \1\t/p' Makefile | expand -t 16

up: ## Set up all it needs, bring up clusters/lab.yaml, prove it, say how to log in
	@scripts/environment && .venv/bin/clusterwright up clusters/lab.yaml --install-deps

test: ## Set up all it needs and run the whole test suite
	@scripts/environment dev && scripts/test

lint: ## Run every linter and check that generated files are current
	@scripts/environment dev && scripts/lint

docs: ## Write the generated schemas and reference pages again
	@scripts/environment dev && scripts/generate

bench: ## Measure, print and write docs/benchmarks.md
	@scripts/environment dev && scripts/real-parts && env -u PYTHONDONTWRITEBYTECODE .venv/bin/python -m bench

engine: ## Build the Pulumi engine from its Go module
	@engine/build

lock: ## Resolve the dependencies again and write the lock files
	@scripts/environment dev && scripts/lock

clean: ## Remove everything that was made here; clusters and their state stay
	@rm -rf .venv .cache .ansible .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
