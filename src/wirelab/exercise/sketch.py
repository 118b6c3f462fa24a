"""The network of an exercise as a drawing, with a student's figures in it."""

from collections.abc import Mapping

from wirelab.model.assignment import Assignment, case_with
from wirelab.report.drawing import drawing


def network_drawing(exercise: Assignment, figures: Mapping[str, str], title: str) -> str:
    """The network with a student's figures beside what they are of. A hidden fault is not drawn."""
    run = exercise.said.networks[0]
    case = case_with(exercise.case(run), exercise.setup(run, figures, None, {}))
    notes: dict[str, list[str]] = {}
    for figure, drawn in exercise.said.figures.items():
        for setting in () if figure in exercise.hidden else drawn.setting:
            owner, _, what = setting.partition(".")
            words = f"{what.rpartition('.')[2]} {figures[figure]}" if what else figures[figure]
            notes.setdefault(owner, []).append(words.replace("_", " "))
    return drawing(case.wiring, title, notes)
