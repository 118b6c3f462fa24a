"""How far a build is, as a terminal or a log shows it."""

from typing import Final, Self

from rich import progress
from rich.console import Console

from wirelab.lab.entry import Entry
from wirelab.lab.reporter import Reporter

_PERCENT_OF_A_LINE: Final = 10


class Lane(Reporter):
    """One job: a bar for each step on a terminal, elsewhere a line for each step and each tenth of it."""

    def __init__(self, console: Console, bar: progress.Progress, name: str = "") -> None:
        self._console = console
        self._bar = bar
        self._prefix = f"{name}: " if name else ""
        self._title = ""
        self._task: progress.TaskID | None = None
        self._total: int | None = None
        self._told_percent = 0

    def say(self, text: str) -> None:
        """A line of its own."""
        self._console.print(f"{self._prefix}{text}", markup=False, highlight=False, soft_wrap=True)

    def step(self, title: str, total: int | None = None) -> None:
        """A new bar."""
        self.finish()
        if self._bar.disable:
            self.say(title)
        self._title, self._total, self._told_percent = title, total, 0
        self._task = self._bar.add_task(f"{self._prefix}{title}", total=total)

    def advance(self, done: int) -> None:
        """So much of the bar."""
        if self._task is None:
            return
        self._bar.update(self._task, completed=done)
        percent = 100 * done // self._total if self._total else 0
        if self._bar.disable and percent >= self._told_percent + _PERCENT_OF_A_LINE:
            self._told_percent = percent
            self.say(f"{self._title}: {percent} %")

    def finish(self) -> None:
        """End the last step, whatever was left of it."""
        if self._task is not None:
            self._bar.update(self._task, total=self._total or 1, completed=self._total or 1)
            self._bar.stop_task(self._task)
            self._task = None


class Screen(Lane):
    """A context that shows how far a job is, or several at once, each in a lane."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        bar = progress.Progress(
            progress.SpinnerColumn(finished_text=" "),
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        super().__init__(console, bar)
        self._lanes: list[Lane] = [self]

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        for lane in self._lanes:
            lane.finish()
        self._bar.stop()

    def lane(self, name: str) -> Lane:
        """A job of several."""
        self.finish()
        self._lanes.append(lane := Lane(self._console, self._bar, name))
        return lane

    def show(self, *entries: Entry) -> None:
        """A line for each."""
        for entry in entries:
            self.say(f"{entry.facts['title']}  {entry.path}")
