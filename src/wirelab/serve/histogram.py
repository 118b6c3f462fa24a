"""What a class has predicted, against what was measured: a histogram of the one over the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from wirelab.exercise.draw import drawn
from wirelab.exercise.figures import Measurements, is_computed
from wirelab.exercise.work import Work
from wirelab.model.assignment import Assignment, quantity_asked
from wirelab.model.exercise import Prediction
from wirelab.model.fill import unfilled_text
from wirelab.runner.run_result import VariantResult
from wirelab.units import coherent, parse

BOUNDS: Final = (0.25, 0.5, 0.75, 0.9, 1.1, 1 / 0.75, 2.0, 4.0)
"""Between the bins: what is from 0.9 to 1.1 of the measured is within 10 %."""
LABELS: Final = (
    "< 25 %",
    "25..50 %",
    "50..75 %",
    "75..90 %",
    "± 10 %",
    "110..133 %",
    "133..200 %",
    "200..400 %",
    "> 400 %",
)
_RIGHT: Final = 4

_WIDTH: Final = 900
_HEIGHT: Final = 210
_BELOW: Final = 34
_GAP: Final = 10


@dataclass(frozen=True, slots=True)
class Spread:
    """A prediction of a class: how many are in each bin, how many predicted, and the measured figures.

    They are computed where no run is referred to: then everybody who has predicted is in a bin.
    """

    text: str
    counts: tuple[int, ...]
    predicted: int
    measured: str
    is_computed: bool

    @property
    def compared(self) -> int:
        """How many predictions are in a bin: of what is measured, how many have run it."""
        return sum(self.counts)


def spread(
    exercise: Assignment, prediction: Prediction, works: Iterable[tuple[Work, dict[str, VariantResult]]]
) -> Spread:
    """One prediction, by the works of a class, each with the runs that it has."""
    counts, predicted = [0] * len(LABELS), 0
    shown: list[tuple[float, str]] = []
    for work, runs in works:
        said = work.predictions.get(prediction.name)
        if said is None or not work.is_sealed:
            continue
        predicted += 1
        figures = drawn(exercise, work.course, work.student)
        try:
            figure = Measurements(exercise, figures, runs).figure(
                prediction.of, prediction.run, prediction.unit
            )
        except KeyError:
            # Not run yet.
            continue
        if figure.amount is None:
            continue
        quantity = quantity_asked(prediction.unit)
        amount = coherent(parse(said.value, quantity), quantity)
        counts[bin_of(amount, figure.amount)] += 1
        shown.append((figure.amount, figure.shown))
    return Spread(
        unfilled_text(prediction.text),
        tuple(counts),
        predicted,
        _range(shown),
        is_computed(prediction.of, exercise.scales),
    )


def bin_of(predicted: float, measured: float) -> int:
    """Where a prediction stands; of nothing measured, nothing is right and all else too much."""
    if measured == 0:
        return _RIGHT if predicted == 0 else len(BOUNDS)
    ratio = predicted / measured
    # The middle has both of its ends.
    return sum(ratio >= bound if bound < 1 else ratio > bound for bound in BOUNDS)


def histogram(of: Spread, title: str) -> str:
    """The histogram as an ``svg`` element."""
    root = Element(
        "svg", {"viewBox": f"0 0 {_WIDTH} {_HEIGHT + _BELOW}", "role": "img", "class": "histogram"}
    )
    listed = ", ".join(f"{label}: {count}" for label, count in zip(LABELS, of.counts, strict=True))
    SubElement(root, "title").text = f"{title}: {listed}"
    step = _WIDTH / len(LABELS)
    most = max(*of.counts, 1)
    for number, (label, count) in enumerate(zip(LABELS, of.counts, strict=True)):
        x, height = number * step, (_HEIGHT - 28) * count / most
        bar = {"x": x + _GAP / 2, "y": _HEIGHT - height, "width": step - _GAP, "height": height, "rx": 3}
        kind = "right" if number == _RIGHT else "off"
        SubElement(root, "rect", {key: f"{value:.1f}" for key, value in bar.items()} | {"class": kind})
        _text(root, label, x + step / 2, _HEIGHT + 24, "bin")
        if count:
            _text(root, str(count), x + step / 2, _HEIGHT - height - 8, "count")
    SubElement(root, "line", {"x1": "0", "x2": str(_WIDTH), "y1": str(_HEIGHT), "y2": str(_HEIGHT)})
    return tostring(root, encoding="unicode")


def _range(shown: Sequence[tuple[float, str]]) -> str:
    """The measured figures, from the least to the most: students have networks of their own."""
    if not shown:
        return ""
    (_, low), (_, high) = min(shown), max(shown)
    return low if low == high else f"{low} .. {high}"


def _text(parent: Element, words: str, x: float, y: float, kind: str) -> None:
    element = SubElement(
        parent, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": "middle", "class": kind}
    )
    element.text = words
