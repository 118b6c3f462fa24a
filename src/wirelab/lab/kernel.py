"""The lab kernel: which source, which recipe, which entry of the cache. How it is built is in `kbuild`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirelab.errors import LabError
from wirelab.lab import apt, kbuild, mirror, packages
from wirelab.lab.entry import intact
from wirelab.lab.process import output
from wirelab.lab.recipe import hash_of, hashes

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.context import BuildContext
    from wirelab.lab.entry import Entry
    from wirelab.lab.recipe import Recipe, Series

KIND = "kernel"


def find(context: BuildContext, series: str | None = None) -> Entry | None:
    """The kernel built from this recipe, None if there is none. Asks nobody."""
    return context.cache.find(KIND, context.cache.recall(question(context, series)))


def ensure(context: BuildContext, *, series: str | None = None, update: bool = False) -> Entry:
    """The kernel of this recipe, built if it is not there.

    ``series`` None is the newest that apt can deliver. ``update`` asks apt again, for a newer source. Raises
    LabError if no source can be had or the build fails, InputError for an unknown series.
    """
    if not update and (entry := intact(lambda: find(context, series))):
        return entry
    packages.require("kernel")
    source = _deliverable(context, mirror.find(context.environ), context.recipe.choices(series))
    compiler = output(["gcc", "-dumpfullversion"]).strip()
    ingredients = _ingredients(context.recipe, source.series)
    key = hash_of(
        {
            "source": [source.package.name, source.package.version],
            "recipe": ingredients,
            "compiler": compiler.partition(".")[0],
        }
    )

    def make(folder: Path) -> dict[str, Any]:
        facts = kbuild.build(
            context, source, folder, f"{KIND}-{key}", _expected_objects(context, source.series)
        )
        if _ingredients(context.recipe, source.series) != ingredients:
            raise LabError("a file of kernel/ was changed during the build", hint="build again")
        return {**facts, "compiler": compiler}

    entry = context.cache.build(KIND, key, make, context.reporter)
    take(context, entry, series)
    return entry


def take(context: BuildContext, entry: Entry, series: str | None = None) -> None:
    """Make ``entry`` what ``find`` finds, for ``series`` and for the series that it is of."""
    for name in (series, str(entry.facts["series"])):
        context.cache.remember(question(context, name), entry.key)


def path(entry: Entry) -> Path:
    """The program that is the kernel."""
    return entry.path / kbuild.BINARY


def _ingredients(recipe: Recipe, series: Series) -> dict[str, Any]:
    return {
        "steps": kbuild.STEPS_VERSION,
        "files": hashes((recipe.config, *recipe.driver, *recipe.patches(series.name)), recipe.home),
        "absent": sorted(series.absent),
    }


def question(context: BuildContext, series: str | None = None) -> str:
    """The name under which the answer to "which kernel is that?" is remembered, one for each recipe."""
    recipe = context.recipe
    choices = {
        choice.name: [choice.suites, _ingredients(recipe, choice)] for choice in recipe.choices(series)
    }
    return f"{KIND}-{series or 'newest'}-{hash_of(choices)}"


def _deliverable(context: BuildContext, debian: mirror.Mirror, choices: tuple[Series, ...]) -> kbuild.Source:
    """The first of ``choices`` that apt can deliver."""
    apt.require_keyring()
    context.cache.folder("apt")
    refused: list[str] = []
    for series in choices:
        for suite in series.suites:
            context.reporter.step(f"asking apt for {series.package} in {suite}")
            if debian.address(suite) is None:
                refused.append(f"{suite}: no address of it is known")
                continue
            try:
                with apt.querying(context, debian, [suite]) as query:
                    version = query.version(series.package)
            except LabError as error:
                refused.append(f"{suite}: {error.message.splitlines()[0]}")
                continue
            if version is not None:
                for reason in refused:
                    context.reporter.say(f"passed over {reason}")
                return kbuild.Source(series, apt.Package(series.package, version), suite, debian)
            refused.append(f"{suite}: no {series.package}")
    names = " or ".join(series.package for series in choices)
    message = f"apt can deliver no {names}\n" + "\n".join(f"  {reason}" for reason in refused)
    raise LabError(message, hint=apt.OFFLINE_HINT)


def _expected_objects(context: BuildContext, series: Series) -> int:
    """How many files the last build of this series compiled, else what the series table says."""
    counts = [
        int(entry.facts["objects"])
        for entry in context.cache.entries()
        if entry.kind == KIND and entry.facts["series"] == series.name
    ]
    return counts[-1] if counts else series.objects
