"""The lab kernel: which source, which recipe, which entry of the cache. How it is built is in `kbuild`."""

from pathlib import Path
from typing import Any

from wirelab.errors import LabError
from wirelab.lab import apt, kbuild, mirror, packages
from wirelab.lab.entry import Entry, intact
from wirelab.lab.process import output
from wirelab.lab.recipe import BuildContext, Recipe, Series, hash_of, hashes

KIND = "kernel"


def find(context: BuildContext, series: str | None = None) -> Entry | None:
    """The kernel built from this recipe, None if there is none. Asks nobody."""
    return context.cache.find(KIND, context.cache.remembered(question(context, series)))


def ensure(
    context: BuildContext, *, series: str | None = None, update: bool = False, from_source: bool = False
) -> Entry:
    """The kernel of this recipe, built if it is not there, or with ``from_source`` if it was not built here.

    ``series`` None is the newest that apt can deliver. ``update`` asks apt again, for a newer source. Raises
    LabError if no source can be had or the build fails, InputError for an unknown series.
    """
    if not update and (entry := intact(find, context, series)) and not (from_source and entry.is_imported):
        return entry
    packages.require("kernel")
    source = _deliverable(context, mirror.find(context.environ), context.recipe.choices(series))
    compiler = output(["gcc", "-dumpfullversion"]).strip()
    ingredients = _ingredients(context.recipe, source.series)
    made_of = {"source": [source.series.package, source.version], "recipe": ingredients}
    key = hash_of({**made_of, "compiler": compiler.partition(".")[0]})

    def make(folder: Path) -> dict[str, Any]:
        objects = _expected_objects(context, source.series)
        facts = kbuild.build(context, source, folder, f"{KIND}-{key}", objects)
        if _ingredients(context.recipe, source.series) != ingredients:
            raise LabError("a file of kernel/ was changed during the build", hint="build again")
        return {**facts, "compiler": compiler}

    entry = context.cache.build(KIND, key, make, context.reporter, from_source=from_source)
    take(context, entry, series)
    return entry


def take(context: BuildContext, entry: Entry, series: str | None = None) -> None:
    """Make ``entry`` what ``find`` finds, for ``series`` and for the series that it is of.

    One of the newest series is found where none is named, too.
    """
    own = str(entry.facts["series"])
    newest = context.recipe.choices(None)[0].name
    for name in {series, own, None if own == newest else own}:
        context.cache.remember(question(context, name), entry.key)


def made_from(recipe: Recipe, series: Series) -> tuple[Path, ...]:
    """The files of ours that a kernel is made from."""
    return (*recipe.configs(series), *recipe.driver, *recipe.patches(series))


def _ingredients(recipe: Recipe, series: Series) -> dict[str, Any]:
    return {
        "steps": kbuild.STEPS_VERSION,
        "files": hashes(made_from(recipe, series), recipe.home),
        "absent": sorted(series.absent),
    }


def question(context: BuildContext, series: str | None = None) -> str:
    """The name under which the answer to "which kernel is that?" is remembered, one for each recipe."""
    named = context.recipe.choices(series)
    choices = {choice.name: [choice.suites, _ingredients(context.recipe, choice)] for choice in named}
    return f"{KIND}-{series or 'newest'}-{hash_of(choices)}"


def _deliverable(
    context: BuildContext, debian: mirror.Mirror, choices: tuple[Series, ...]
) -> kbuild.KernelSource:
    """The first of ``choices`` that apt can deliver."""
    # A cache that cannot be written is no reason to ask for another series.
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
                return kbuild.KernelSource(series, version, suite, debian)
            refused.append(f"{suite}: no {series.package}")
    names = " or ".join(series.package for series in choices)
    message = f"apt can deliver no {names}\n" + "\n".join(f"  {reason}" for reason in refused)
    raise LabError(message, hint=apt.OFFLINE_HINT)


def _expected_objects(context: BuildContext, series: Series) -> int:
    """How many files the last build of this series compiled, else what the series table says."""
    built = [entry.facts for entry in context.cache.entries() if entry.kind == KIND]
    counts = [int(facts["objects"]) for facts in built if facts["series"] == series.name]
    return counts[-1] if counts else series.objects
