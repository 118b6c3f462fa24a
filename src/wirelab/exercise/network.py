"""Networks: what is run for a student, each a case of the scenario with settings on top."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wirelab.errors import InputError, Problem, unknown
from wirelab.exercise.draw import Figures
from wirelab.exercise.work import Work
from wirelab.model.assignment import Assignment, case_with, filled
from wirelab.model.exercise import ChoiceQuestion, Run
from wirelab.model.scale import Scale
from wirelab.plan.build import build_plan
from wirelab.runner.trial import Trial


@dataclass(frozen=True, slots=True)
class Setup:
    """A network to be run. Equal ones are measured once, for whichever student."""

    case: str
    settings: tuple[tuple[str, str], ...]

    def trial(self, exercise: Assignment, name: str) -> Trial:
        """What is carried out and judged by the expectations of the repair; results call it ``name``.

        Raises InputError for settings that cannot be together.
        """
        case = case_with(exercise.experiment.case(self.case), dict(self.settings))
        plan = build_plan(exercise.experiment, case, exercise.said.seed)
        return Trial(replace(plan, variant=name), exercise.expectations)


@dataclass(frozen=True, slots=True)
class Networks:
    """The networks of one student. All of its methods raise InputError for what cannot be."""

    exercise: Assignment
    figures: Figures

    def run(self, name: str | None = None) -> Setup:
        """A run of the exercise, the first where none is named."""
        return self._setup(self.exercise.run(name), {})

    def experiment(self, settings: Mapping[str, str]) -> Setup:
        """The student's network with settings that may be tried."""
        said = self.exercise.said.experiments
        if said is None:
            raise InputError("this exercise has no experiments")
        return self._checked(self.exercise.run(None), admitted(settings, self.exercise.experiments))

    def option(self, question: ChoiceQuestion, number: int) -> Setup:
        """The network that shows what an option does; they count from 1."""
        return self._setup(self.exercise.run(question.run), question.options[number - 1].settings)

    def repair(self, settings: Mapping[str, str]) -> Setup:
        """The network with the student's repair."""
        said = self.exercise.said.repair
        if said is None:
            raise InputError("there is nothing to repair in this exercise")
        if not settings:
            raise InputError("a repair changes something: name a setting and its value")
        if len(settings) > said.most:
            raise InputError(
                f"{len(settings)} settings are changed; a repair here changes at most {said.most}"
            )
        return self._checked(self.exercise.run(said.run), admitted(settings, self.exercise.repairs))

    def control(self, settings: Mapping[str, str]) -> Setup:
        """What must fail for a repair: the exercise's control of it, else the network as it was."""
        said = self.exercise.said.repair
        if said is None or said.control is None:
            return self.run(said.run if said else None)
        run = self.exercise.run(said.run)
        on_top = filled(said.control.settings, self.figures.values, self.exercise.case(run))
        return self._checked(run, {**admitted(settings, self.exercise.repairs), **on_top})

    def needed(self, work: Work) -> dict[str, Setup]:
        """All that a work is marked by, by names that tell what each is."""
        setups = {run.name: self.run(run.name) for run in self.exercise.said.networks}
        for asked in self.exercise.said.asked:
            if isinstance(asked, ChoiceQuestion) and asked.name in work.answers:
                for number in range(1, len(asked.options) + 1):
                    setups[f"{asked.name}-option-{number}"] = self.option(asked, number)
        if work.repair is not None and self.exercise.said.repair is not None:
            try:
                setups["repair"] = self.repair(work.repair.settings)
                setups["repair-control"] = self.control(work.repair.settings)
            except InputError:
                # It is no repair, which its mark says.
                setups.pop("repair", None)
        return setups

    def _setup(self, run: Run, on_top: Mapping[str, str]) -> Setup:
        settings = self.exercise.setup(run, self.figures.values, self.figures.fault, on_top)
        return Setup(self.exercise.case(run).name, tuple(settings.items()))

    def _checked(self, run: Run, on_top: Mapping[str, str]) -> Setup:
        setup = self._setup(run, on_top)
        try:
            case_with(self.exercise.experiment.case(setup.case), dict(setup.settings))
        except InputError as error:
            # The other settings are the exercise's, and may be hidden.
            words = error.message.rpartition(": ")[2] if self.figures.fault else error.message
            raise InputError(f"these settings cannot be together: {words}") from None
        return setup


def admitted(settings: Mapping[str, str], scales: Mapping[str, Scale]) -> dict[str, str]:
    """Settings as their scales write them. Raises InputError for one that may not be changed so."""
    values = {}
    for key, text in settings.items():
        if key not in scales:
            raise InputError(unknown("setting that may be changed", key, scales))
        try:
            values[key] = scales[key].admitted(text)
        except ValueError as error:
            raise InputError.of([Problem(str(error), field=key)]) from None
    return values
