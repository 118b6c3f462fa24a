"""``wirelab list``: what can be run by name, and how to deal it out to several machines."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from wirelab.cli.names import load_valid
from wirelab.cli.options import DEFAULT_OUT, Names, Out
from wirelab.errors import InputError
from wirelab.model.catalogue import find_scenario
from wirelab.model.experiment import Experiment
from wirelab.report.text import Output, print_table
from wirelab.runner.shards import Load, deal, loads

SHARDS_MAX: Final = 256
"""What a job matrix of GitHub may have."""


def list_command(
    names: Names = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print it for a program.")] = False,
    shards: Annotated[
        int | None,
        typer.Option(min=1, max=SHARDS_MAX, help="Deal them out to so many machines; prints JSON."),
    ] = None,
    out: Out = DEFAULT_OUT,
) -> None:
    """List the scenarios that can be run by name.

    For a program it says how long each is planned to be, and how long it took when it was last measured, by
    the results in `--out`.
    """
    experiments, problems = load_valid(names or ())
    if shards is not None or as_json:
        known = loads(experiments, out)
        document = _facts(experiments, known) if shards is None else _shards(known, shards)
        typer.echo(json.dumps(document, indent=1))
    else:
        rows = [(Text(name, style="bold"), _headline(experiment)) for name, experiment in experiments.items()]
        print_table(Output.for_stream(sys.stdout), ("", ""), rows, overflow="ellipsis")
    if problems:
        raise InputError.of(problems)


def _facts(experiments: Mapping[str, Experiment], known: Sequence[Load]) -> list[dict[str, object]]:
    return [
        {
            "name": experiment.scenario.name,
            "file": str(find_scenario(load.name, Path.cwd())[0]),
            "topology": experiment.scenario.topology,
            "variants": [case.name for case in experiment.cases if not case.is_control],
            "controls": [case.name for case in experiment.cases if case.is_control],
            "story": experiment.story,
            "virtual_s": round(load.virtual_s, 3),
            "wall_s": load.wall_s,
        }
        for experiment, load in zip(experiments.values(), known, strict=True)
    ]


def _shards(known: Sequence[Load], count: int) -> list[dict[str, object]]:
    dealt = deal(known, count)
    return [
        {
            "shard": number,
            "of": len(dealt),
            "names": shard.names,
            "scenarios": " ".join(shard.names),
            "weight_s": round(shard.weight_s, 1),
        }
        for number, shard in enumerate(dealt, 1)
    ]


def _headline(experiment: Experiment) -> str:
    """The first sentence of its story."""
    story = " ".join(experiment.story.split())
    head, stop, _ = story.partition(". ")
    return f"{head}." if stop else story
