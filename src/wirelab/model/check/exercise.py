"""What is wrong with an exercise, beside what its keys tell: names, formulas, settings and texts."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from wirelab.errors import InputError, unknown
from wirelab.model.assignment import WORD, case_with, drawn_quantity, filled, hidden_figures, quantity_asked
from wirelab.model.cases import Case, quantity_of, read_settings
from wirelab.model.exercise import (
    Allowed,
    Asked,
    ChoiceQuestion,
    ElementQuestion,
    ExerciseFile,
    Fault,
    FaultQuestion,
    MechanismQuestion,
    NumberQuestion,
    PortQuestion,
    Prediction,
    Range,
    Run,
    written_texts,
)
from wirelab.model.expect_reader import unfollowed
from wirelab.model.experiment import Experiment
from wirelab.model.fill import as_number, figure_number, filled_text, placeholders
from wirelab.model.formula import (
    FormulaError,
    Powers,
    Reference,
    fits,
    powers_of,
    read_formula,
    references,
)
from wirelab.model.metric import METRICS, NETWORK, PORT, Choice, SubjectKind, metrics_of
from wirelab.model.scale import Scale, combined
from wirelab.model.traffic import Ping
from wirelab.model.yamlfile import Loc, Report
from wirelab.units import RATIO, Quantity, dimension, parse_range

MOST: Final = 50
"""Predictions, questions, faults, options: of each so many."""
_MOST_COMBINED: Final = 64
_RANKS: Final = ("highest", "lowest")


@dataclass(slots=True)
class ExerciseCheck:
    """Checks an exercise whose scenario is sound; what is wrong is reported with its place."""

    said: ExerciseFile
    experiment: Experiment
    report: Report
    scales: dict[str, Scale] = field(default_factory=dict)
    experiments: dict[str, Scale] = field(default_factory=dict)
    repairs: dict[str, Scale] = field(default_factory=dict)

    def check(self) -> None:
        """Check all of it but what must hold after a repair."""
        said = self.said
        self._figures()
        self._names()
        self._texts()
        for index, prediction in enumerate(said.predictions):
            self._measured(prediction, ("predictions", index), prediction.of, prediction.unit)
        for index, question in enumerate(said.questions):
            self._question(question.asked, ("questions", index, question.kind))
        for index, fault in enumerate(said.faults):
            self._fault(fault, ("faults", index))
        if said.experiments is not None:
            self.experiments = self._allowed(said.experiments.settings, ("experiments", "with"))
        if said.repair is not None:
            self.repairs = self._allowed(said.repair.settings, ("repair", "with"))
            self._run_of(said.repair.run, ("repair", "run"))
        self._networks()
        if not (said.predictions or said.questions or said.repair):
            self.report(("predictions",), "is missing: there is nothing to do")

    def _case(self, run: Run | None) -> Case:
        """The case of a run; where it names none that there is, the first."""
        name = (run and run.variant) or self.said.variant
        return next((case for case in self.experiment.cases if case.name == name), self.experiment.cases[0])

    @property
    def _defaults(self) -> dict[str, str]:
        """The first of the values of each figure."""
        return {name: scale.ends[0] for name, scale in self.scales.items()}

    @property
    def _unsound(self) -> set[str]:
        """The figures of which it was told already what is wrong."""
        return set(self.said.figures) - set(self.scales)

    def _figures(self) -> None:
        cases = tuple(case.name for case in self.experiment.cases)
        if self.said.variant is not None and self.said.variant not in cases:
            self.report(("variant",), unknown("variant or control", self.said.variant, cases))
        case = self._case(None)
        for name, drawn in self.said.figures.items():
            loc: Loc = ("figures", name)
            try:
                quantity = drawn_quantity(drawn, case)
                for setting in drawn.setting[1:]:
                    if quantity_of(case, setting) is not quantity:
                        self.report((*loc, "setting"), f"`{setting}` is measured in something else")
            except (InputError, FormulaError) as error:
                self.report((*loc, "unit" if drawn.unit and not drawn.setting else "setting"), str(error))
                continue
            scale = self._scale(drawn, quantity, loc)
            if scale is None:
                continue
            if not scale.count:
                self.report((*loc, "range"), "needs a `step`: a figure is drawn from so many values")
                continue
            self.scales[name] = scale
            powers = {number and number.powers for number in map(as_number, scale.listed)}
            if len(powers) > 1:
                self.report((*loc, "values"), "are not all of one kind")

    def _scale(self, said: Range, quantity: Quantity | None, loc: Loc) -> Scale | None:
        try:
            return Scale.read(said, quantity)
        except ValueError as error:
            key = "step" if said.step and "step" in str(error) else "range" if said.range else "values"
            self.report((*loc, key), str(error))
            return None

    def _allowed(self, settings: Mapping[str, Allowed], loc: Loc) -> dict[str, Scale]:
        scales = {}
        case = self._case(None)
        for setting, allowed in settings.items():
            try:
                quantity = quantity_of(case, setting)
            except InputError as error:
                self.report((*loc, setting), str(error))
                continue
            scale = self._scale(allowed, quantity, (*loc, setting))
            if scale is None:
                continue
            scales[setting] = scale
            # Together with others it may be right: what is not, a student is told.
            for text in dict.fromkeys((*scale.listed, *scale.ends)):
                try:
                    read_settings(case, {setting: text})
                except InputError as error:
                    self.report((*loc, setting, "values" if allowed.values else "range"), error.message)
        if not settings:
            self.report(loc, "is empty: name the settings that may be changed")
        return scales

    def _student(self, case: Case, figures: Mapping[str, str] | None = None) -> dict[str, str]:
        """The settings of a student's figures."""
        values = self._defaults if figures is None else figures
        known = ((drawn.setting, values[name]) for name, drawn in self.said.figures.items() if name in values)
        return {setting: value for settings, value in known for setting in settings if case}

    def _names(self) -> None:
        said = self.said
        asked: list[tuple[Loc, str]] = [
            (("predictions", index, "name"), one.name) for index, one in enumerate(said.predictions)
        ]
        for index, one in enumerate(said.questions):
            asked.append((("questions", index, one.kind, "name"), one.asked.name))
        self._unique(asked)
        self._unique([(("runs", index, "name"), run.name) for index, run in enumerate(said.runs)])
        self._unique([(("faults", index, "name"), fault.name) for index, fault in enumerate(said.faults)])
        for key in ("predictions", "questions", "runs", "faults", "figures"):
            if len(getattr(said, key)) > MOST:
                self.report((key,), f"has {len(getattr(said, key))} entries; the limit is {MOST}")

    def _unique(self, named: list[tuple[Loc, str]]) -> None:
        seen: set[str] = set()
        for loc, name in named:
            if name in seen:
                self.report(loc, f"duplicate name: there is a `{name}` already")
            seen.add(name)

    def _texts(self) -> None:
        for loc, text in written_texts(self.said):
            words = set(WORD.findall(" ".join(placeholders(text))))
            if hidden := words & hidden_figures(self.said):
                self.report(loc, f"tells `{min(hidden)}`, which is of a hidden fault")
            if words & self._unsound:
                continue
            for number, figures in enumerate(combined(self.scales, words)):
                try:
                    filled_text(text, {**self._defaults, **figures})
                except ValueError as error:
                    told = ", ".join(f"`{name}` {value}" for name, value in figures.items())
                    self.report(loc, f"{error} where a student has {told}" if number else str(error))
                    break

    def _run_of(self, name: str | None, loc: Loc) -> Run:
        for run in self.said.networks:
            if name in (None, run.name):
                return run
        self.report(loc, unknown("run", name or "", (run.name for run in self.said.networks)))
        return self.said.networks[0]

    def _question(self, asked: Asked, loc: Loc) -> None:
        run = self._run_of(asked.run, (*loc, "run"))
        match asked:
            case PortQuestion():
                if asked.most not in METRICS or PORT not in METRICS[asked.most].subjects:
                    known = (metric.name for metric in metrics_of(PORT))
                    self.report((*loc, "most"), unknown("metric of a port", asked.most, known))
            case MechanismQuestion() | ElementQuestion():
                flows = [item.name for item in self.experiment.scenario.items if not isinstance(item, Ping)]
                if asked.flow not in flows:
                    self.report((*loc, "flow"), unknown("flow", asked.flow, flows))
            case NumberQuestion():
                self._measured(asked, loc, asked.of, asked.unit)
            case ChoiceQuestion():
                self._choice(asked, loc, run)
            case FaultQuestion() if not self.said.faults:
                self.report((*loc, "what"), "there are no `faults` to be found")
            case _:
                pass

    def _choice(self, asked: ChoiceQuestion, loc: Loc, run: Run) -> None:
        self._formula(asked.of, (*loc, "of"))
        if asked.right not in _RANKS:
            try:
                parse_range(asked.right, RATIO)
            except ValueError as error:
                self.report((*loc, "right"), f"{error}; or `highest`, or `lowest`")
        if not 1 < len(asked.options) <= MOST:
            self.report((*loc, "options"), f"a choice has 2 to {MOST} options")
        options: Loc = (*loc, "options")
        self._unique([((*options, index, "text"), option.text) for index, option in enumerate(asked.options)])
        for index, option in enumerate(asked.options):
            self._network(run, option.settings, None, (*options, index, "with"))

    def _measured(self, asked: Prediction | NumberQuestion, loc: Loc, of: str, unit: str | None) -> None:
        self._run_of(asked.run, (*loc, "run"))
        try:
            quantity = quantity_asked(unit)
        except FormulaError as error:
            self.report((*loc, "unit"), str(error))
            return
        powers = self._formula(of, (*loc, "of"))
        if powers is None or fits(powers, quantity):
            return
        if unit is None:
            self.report((*loc, "unit"), f"is missing: `{of}` is no count")
        else:
            self.report((*loc, "unit"), f"`{of}` is no {quantity.name}, so it is not measured in `{unit}`")

    def _formula(self, text: str, loc: Loc) -> Powers | None:
        try:
            formula = read_formula(text)
            if self._unsound & {reference.path for reference in references(formula)}:
                return None
            return powers_of(formula, self._powers)
        except FormulaError as error:
            self.report(loc, str(error))
            return None

    def _powers(self, reference: Reference) -> Powers:
        if reference.run is not None and reference.run not in (run.name for run in self.said.networks):
            raise FormulaError(unknown("run", reference.run, (run.name for run in self.said.networks)))
        if reference.path in self.said.figures:
            return figure_number(Reference(reference.path), self._defaults).powers
        subject, dot, metric = reference.path.rpartition(".")
        if not dot:
            raise FormulaError(unknown("figure", reference.path, self.said.figures))
        kinds = self._subjects()
        if subject not in kinds:
            raise FormulaError(unknown("flow, ping or port", subject, kinds))
        own = [one.name for one in metrics_of(kinds[subject]) if not isinstance(one.quantity, Choice)]
        if metric not in own:
            raise FormulaError(unknown(f"metric of {subject}", metric, own))
        items = {item.name: item for item in self.experiment.scenario.items}
        if problem := unfollowed(items.get(subject), metric):
            raise FormulaError(problem)
        quantity = METRICS[metric].quantity
        return (0, 0, 0) if isinstance(quantity, Choice) else dimension(quantity)

    def _subjects(self) -> dict[str, SubjectKind]:
        topology = self.experiment.topology
        kinds: dict[str, SubjectKind] = {item.name: item.subject for item in self.experiment.scenario.items}
        kinds |= {topology.label(ref): PORT for ref in topology.ports()}
        return {**kinds, NETWORK: "network"}

    def _fault(self, fault: Fault, loc: Loc) -> None:
        topology = self.experiment.topology
        elements = (*topology.nodes, *(topology.label(ref) for ref in topology.ports()))
        if fault.element not in elements:
            self.report((*loc, "element"), unknown("port or node", fault.element, elements))
        if fault.figure is not None:
            try:
                powers_of(read_formula(fault.figure), lambda one: figure_number(one, self._defaults).powers)
            except FormulaError as error:
                self.report((*loc, "figure"), str(error))

    def _networks(self) -> None:
        """Every run can be, with the least and the most of each figure, and with each fault."""
        faults: list[Fault | None] = [*self.said.faults] or [None]
        for index, run in enumerate(self.said.networks):
            loc: Loc = ("runs", index, "with") if self.said.runs else ("figures",)
            if run.variant is not None and run.variant != self._case(run).name:
                cases = (case.name for case in self.experiment.cases)
                self.report(("runs", index, "variant"), unknown("variant or control", run.variant, cases))
            for number, fault in enumerate(faults):
                at = ("faults", number, "with") if fault else loc
                self._network(run, {}, fault, at)
        repair = self.said.repair
        if repair is not None and repair.control is not None:
            run = self._run_of(repair.run, ("repair", "run"))
            if not repair.control.settings:
                self.report(("repair", "control", "with"), "changes nothing, so it can fail nothing")
            self._network(run, repair.control.settings, faults[0], ("repair", "control", "with"))

    def _network(self, run: Run, on_top: Mapping[str, str], fault: Fault | None, loc: Loc) -> None:
        case = self._case(run)
        for figures in () if self._unsound else self._combined():
            settings = self._student(case, figures)
            try:
                for written in (fault.settings if fault else {}, run.settings, on_top):
                    settings |= filled(written, figures, case)
            except InputError as error:
                self.report(loc, error.message)
                return
            try:
                case_with(case, settings)
            except InputError as error:
                self.report(*self._blamed(case, figures, loc, error.message))
                return

    def _blamed(self, case: Case, figures: Mapping[str, str], loc: Loc, message: str) -> tuple[Loc, str]:
        """A figure that cannot be by itself, wherever it was met; else ``loc`` and ``message``."""
        for name, drawn in self.said.figures.items():
            try:
                case_with(case, dict.fromkeys(drawn.setting, figures[name]))
            except InputError as error:
                return ("figures", name), error.message
        return loc, message

    def _combined(self) -> Iterator[dict[str, str]]:
        ends = [dict.fromkeys(scale.ends) for scale in self.scales.values()]
        for values in itertools.islice(itertools.product(*ends), _MOST_COMBINED):
            yield dict(zip(self.scales, values, strict=True))
