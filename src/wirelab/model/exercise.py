"""What an exercise says: the keys of ``exercises/NAME/exercise.yaml``."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import WithJsonSchema, model_validator

from wirelab.model.scenario import Bounds, Rows, Settings
from wirelab.model.types import Count, Model, Name, OnOff, PositiveCount, PositiveTime, Text, key, optional
from wirelab.model.yamlfile import Loc

NETWORK_RUN: Final = "network"
"""The run of the network as it was given, where the exercise does not name its own."""


_Values = Annotated[
    tuple[Text, ...], WithJsonSchema({"type": "array", "items": {"type": ["string", "boolean", "integer"]}})
]


class Range(Model):
    """Values that a setting may have: a list of them, or a range and its step."""

    values: _Values = key("The values, as a scenario would write them.", default=())
    range: Text | None = optional("The least and the most, as `12..48 KiB`.")
    step: Text | None = optional("From one value of the range to the next, as `4 KiB`.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if bool(self.values) == bool(self.range):
            raise ValueError("is a list of `values`, or a `range`: give one of them")
        if self.step and not self.range:
            raise ValueError("has a `step`, which only a `range` has")
        return self


class Drawn(Range):
    """A figure that is another for each student, drawn by a hash of course, exercise and student."""

    setting: Rows = key("The setting that has it, or several; without one it is for texts.", default=())
    unit: Text | None = optional("What a range without a setting is measured in.")


class Allowed(Range):
    """A setting that students may change, and what to."""

    text: Text | None = optional("What a student reads beside it.")


class Run(Model):
    """A network that is run as it stands."""

    name: Name = key("How predictions, questions and students call it.")
    text: Text | None = optional("What a student reads of it.")
    variant: Name | None = optional("The variant or control; that of the exercise if none is named.")
    settings: Settings = key(
        "Settings on top of the student's network; `{fifo}` is the figure of that name.",
        alias="with",
        default_factory=dict,
    )


class Prediction(Model):
    """A quantity that a student predicts before anything runs."""

    name: Name = key("How the work and the marks call it.")
    text: Text = key("The question.")
    of: Text = key("What is measured: `download.goodput`, or a formula of such and of figures.")
    run: Name | None = optional("The run in which it is measured; the first one if none is named.")
    unit: Text | None = optional("What the answer is written in; none for a count.")
    why: OnOff = key("Whether the reason is asked for, in one sentence; the teacher reads it.", default=True)
    points: PositiveCount = key("For an answer within 10 %, of a count within a factor of 1.3.")


class Experiments(Model):
    """What students may try besides."""

    most: PositiveCount = key("How many experiments.")
    settings: dict[Text, Allowed] = key("The settings that may be changed.", alias="with")
    text: Text | None = optional("What a student reads before.")


class _Asked(Model):
    """What every question has."""

    name: Name = key("How the work and the marks call it.")
    text: Text = key("The question.")
    run: Name | None = optional("The run in which the answer is; the first one if none is named.")
    points: PositiveCount = key("For the right answer.")


class PortQuestion(_Asked):
    """Which port has the most of something."""

    most: Text = key("A metric of ports, as `drops`.")


class PausedQuestion(_Asked):
    """Who paused whom: the pair of ports with the longest silence; `nobody` if nobody did."""


class MechanismQuestion(_Asked):
    """What bounds a flow: line, FIFO, queue, bus, CPU, storage, window, pause, application or loss."""

    flow: Name = key("The flow.")


class ElementQuestion(_Asked):
    """Where it is that bounds a flow: a port or a node."""

    flow: Name = key("The flow.")


class NumberQuestion(_Asked):
    """A figure that is read off the run."""

    of: Text = key("What is measured: a metric, or a formula.")
    unit: Text | None = optional("What the answer is written in; none for a count.")


class Option(Model):
    """An answer to choose; its run shows whether it is right."""

    text: Text = key("The answer.")
    settings: Settings = key(
        "Settings on top of the network of the question; without any the network stays as it is.",
        alias="with",
        default_factory=dict,
    )


class ChoiceQuestion(_Asked):
    """A choice whose right answer a further run shows."""

    of: Text = key("What is compared: a metric, or a formula.")
    right: Text = key(
        "Which is right: the `highest`, the `lowest`, or how many times the network's, as `180..220 %`."
    )
    options: tuple[Option, ...] = key("The answers to choose from.")


class TextQuestion(_Asked):
    """An answer in words, whose points the teacher gives."""


class FaultQuestion(_Asked):
    """Something of the hidden fault: its cause, its element or its figure."""

    what: Literal["cause", "element", "figure"] = key("What is asked of it.")


Asked = (
    PortQuestion
    | PausedQuestion
    | MechanismQuestion
    | ElementQuestion
    | NumberQuestion
    | ChoiceQuestion
    | TextQuestion
    | FaultQuestion
)


class Question(Model):
    """One question, under the name of its kind."""

    port: PortQuestion | None = optional("Which port has the most of something.")
    paused: PausedQuestion | None = optional("Who paused whom.")
    mechanism: MechanismQuestion | None = optional("What bounds a flow.")
    element: ElementQuestion | None = optional("Where it is that bounds a flow.")
    number: NumberQuestion | None = optional("A figure that is read off the run.")
    choice: ChoiceQuestion | None = optional("What a further run shows.")
    text: TextQuestion | None = optional("An answer in words.")
    fault: FaultQuestion | None = optional("Something of the hidden fault.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if not self._kinds:
            raise ValueError("is empty: say what is asked, such as port: {...}")
        if len(self._kinds) > 1:
            raise ValueError("is more than one question: begin each of them with a dash of its own")
        return self

    @property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(name for name in type(self).model_fields if getattr(self, name) is not None)

    @property
    def kind(self) -> str:
        """The name of its kind."""
        return self._kinds[0]

    @property
    def asked(self) -> Asked:
        """The question itself."""
        asked: Asked = getattr(self, self.kind)
        return asked


class Fault(Model):
    """A hidden fault: one of them is in each student's network."""

    name: Name = key("What the teacher calls it.")
    cause: Text = key("The cause, as students choose it; several faults may have the same.")
    element: Text = key("Where it is: a port or a node.")
    settings: Settings = key("The settings that make it; `{loss}` is the figure.", alias="with")
    figure: Text | None = optional("Its figure, as `4 KiB` or a formula; without one nobody is asked for it.")


class RepairControl(Model):
    """The repaired network without its cause of success: the expectations must fail."""

    settings: Settings = key("Settings on top of the repaired network.", alias="with")


class Repair(Model):
    """Change something so that the expectations hold; in the control they must fail."""

    text: Text = key("What is to be repaired.")
    most: PositiveCount = key("How many settings may be changed.", default=1)
    settings: dict[Text, Allowed] = key("The settings that may be changed.", alias="with")
    expect: dict[Text, Bounds] = key("What must hold, as in a scenario.")
    run: Name | None = optional("The run that is repaired; the first one if none is named.")
    control: RepairControl | None = optional("What must fail; else the network as it was.")
    points: PositiveCount = key("For a repair that holds while its control fails.")


class ExerciseFile(Model):
    """What students do: predict, run, look, answer, repair. The run is the answer; there is no other key."""

    title: Text = key("What it is called.")
    goal: Text = key("What a student can do afterwards, in a sentence.")
    story: Text = key("What it is about, as Markdown; `{fifo}` is the student's figure of that name.")
    drawing: Text | None = optional(
        "The network in one line, with `{line}` for a figure; else the topology's drawing."
    )
    time_ns: PositiveTime | None = optional("How long it takes.", alias="time")
    lesson: PositiveCount | None = optional("Its place in a course: lists are in this order, others last.")
    scenario: Text = key("A scenario of the catalogue, or a file `*.yaml` in the same folder.")
    variant: Name | None = optional("Its variant; the first one if none is named.")
    figures: dict[Name, Drawn] = key("What is different for each student, by name.", default_factory=dict)
    faults: tuple[Fault, ...] = key("Hidden faults, one of which each student gets.", default=())
    sees: Literal["all", "technician"] = key(
        "`technician`: only what iperf3, ping, `ethtool -S` and a capture show.", default="all"
    )
    runs: tuple[Run, ...] = key(
        "The networks that are run as they stand; without any, `network` is the student's.", default=()
    )
    predictions: tuple[Prediction, ...] = key("What is predicted before anything runs.", default=())
    experiments: Experiments | None = optional("What may be tried besides.")
    questions: tuple[Question, ...] = key("What is asked after the runs.", default=())
    repair: Repair | None = optional("What is to be repaired.")
    after: Text | None = optional("What to take home, shown when it is done, as Markdown.")
    seed: Count = key("What the lab's randomness grows from.", default=1)

    stub: ClassVar[Mapping[str, Any]] = {
        "title": "none",
        "goal": "none",
        "story": "none",
        "scenario": "unnamed",
    }

    @property
    def networks(self) -> tuple[Run, ...]:
        """The runs; where none are given, that of the student's network."""
        return self.runs or (Run.model_validate({"name": NETWORK_RUN}),)

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The questions, in the order they are written."""
        return tuple(question.asked for question in self.questions)


def written_texts(said: ExerciseFile) -> Iterator[tuple[Loc, str]]:
    """Every text that a student reads and that may have figures in it, with its place."""
    whole = {"title": said.title, "goal": said.goal, "story": said.story, "after": said.after}
    whole["drawing"] = said.drawing
    texts: list[tuple[Loc, str | None]] = [((name,), text) for name, text in whole.items()]
    texts += [(("runs", index, "text"), run.text) for index, run in enumerate(said.runs)]
    texts += [(("predictions", index, "text"), one.text) for index, one in enumerate(said.predictions)]
    for index, question in enumerate(said.questions):
        loc: Loc = ("questions", index, question.kind)
        texts.append(((*loc, "text"), question.asked.text))
        options = question.choice.options if question.choice else ()
        texts += [((*loc, "options", number, "text"), one.text) for number, one in enumerate(options)]
    texts.append((("experiments", "text"), said.experiments.text if said.experiments else None))
    texts.append((("repair", "text"), said.repair.text if said.repair else None))
    yield from ((place, text) for place, text in texts if text)
