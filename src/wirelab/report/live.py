"""A run while it goes on: one bar for each lab, in virtual seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from rich.console import Console
    from rich.progress import TaskID

    from wirelab.lab.machine import Progress as LabProgress
    from wirelab.record import VariantRecord


class LiveReport:
    """Bars on a terminal, nothing anywhere else. A context; may be told things from any thread."""

    def __init__(self, console: Console, variants: Iterable[str], *, hidden: bool = False) -> None:
        self._progress = Progress(
            TextColumn("  {task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}", markup=False),
            console=console,
            transient=True,
            disable=hidden or not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {
            name: self._progress.add_task(name, total=None, state="boots") for name in variants
        }

    def __enter__(self) -> Self:
        """Show the bars."""
        if not self._progress.disable:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take them away."""
        if not self._progress.disable:
            self._progress.stop()

    def progress(self, variant: str, progress: LabProgress) -> None:
        """The lab of ``variant`` has come so far."""
        state = f"{progress.done_s:5.1f} of {progress.whole_s:.1f} virtual s"
        if progress.done_s > 0:
            state += f", {progress.wall_s / progress.done_s:.2f} s each"
        self._progress.update(
            self._tasks[variant], completed=progress.done_s, total=progress.whole_s, state=state
        )

    def done(self, record: VariantRecord) -> None:
        """A variant is judged."""
        task = self._tasks[record.name]
        total = next(each.total for each in self._progress.tasks if each.id == task)
        self._progress.update(task, completed=total or 1, total=total or 1, state=str(record.verdict))

    def refresh(self) -> None:
        """Draw what was told, now and not at the next tenth of a second."""
        self._progress.refresh()
