"""Whether all that an exercise offers can be: each listed value, by itself or together with others."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

from wirelab.errors import InputError
from wirelab.model.assignment import Assignment, case_with
from wirelab.model.cases import Case
from wirelab.model.exercise import Run
from wirelab.model.scale import Scale
from wirelab.model.yamlfile import Loc

_MOST_NETWORKS: Final = 16
_MOST_TRIES: Final = 400
"""For a value. What none of so many shows may be possible, and is not told of."""
_OF_A_RANGE: Final = 5


def never_possible(exercise: Assignment) -> Iterator[tuple[Loc, str]]:
    """The values of experiments and of the repair that can never be, each with its place."""
    said = exercise.said
    if said.experiments is not None:
        networks = _networks(exercise, exercise.run(None))
        yield from _never(networks, exercise.experiments, len(exercise.experiments), ("experiments", "with"))
    if said.repair is not None:
        networks = _networks(exercise, exercise.run(said.repair.run))
        yield from _never(networks, exercise.repairs, said.repair.most, ("repair", "with"))


def _networks(exercise: Assignment, run: Run) -> list[tuple[Case, dict[str, str]]]:
    """The networks that students may have, with their settings: each fault, the ends of each figure."""
    ends = [dict.fromkeys(scale.ends) for scale in exercise.scales.values()]
    case = exercise.case(run)
    networks = (
        (case, exercise.setup(run, dict(zip(exercise.scales, values, strict=True)), fault, {}))
        for values in itertools.product(*ends)
        for fault in exercise.said.faults or (None,)
    )
    return list(itertools.islice(networks, _MOST_NETWORKS))


def _never(
    networks: list[tuple[Case, dict[str, str]]], scales: Mapping[str, Scale], most: int, loc: Loc
) -> Iterator[tuple[Loc, str]]:
    for setting, scale in scales.items():
        for index, text in enumerate(scale.listed):
            if why := _why_never(networks, _together(setting, text, scales, most)):
                yield (*loc, setting, "values", index), f"`{text}` is offered and can never be: {why}"


def _why_never(
    networks: list[tuple[Case, dict[str, str]]], together: Iterator[Mapping[str, str]]
) -> str | None:
    """Why none of these settings can be in any of the networks, None if some can, or if they are too many."""
    why = None
    tries = ((changed, network) for changed in together for network in networks)
    for changed, (case, own) in itertools.islice(tries, _MOST_TRIES):
        try:
            case_with(case, {**own, **changed})
        except InputError as error:
            # What is set stands before it.
            why = why or error.message.partition(": ")[2]
        else:
            return None
    return why if next(tries, None) is None else None


def _together(setting: str, text: str, scales: Mapping[str, Scale], most: int) -> Iterator[dict[str, str]]:
    """A value alone, then with those of another setting that may be changed, then with those of two."""
    others = {
        name: scale.listed or scale.spread(_OF_A_RANGE) for name, scale in scales.items() if name != setting
    }
    for count in range(min(most, len(scales))):
        for names in itertools.combinations(others, count):
            for values in itertools.product(*(others[name] for name in names)):
                yield {setting: text, **dict(zip(names, values, strict=True))}
