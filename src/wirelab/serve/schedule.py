"""Whose run is next: one after the other goes round among the people, not among the runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Schedule:
    """Runs that wait, each with those who asked for it.

    Everybody's next run stands a round behind their last one (start-time fair queueing): who asks for ten is
    as far behind with the second as others are with their first. A run that several have asked for is due
    when it is for the first of them.
    """

    _waiting: dict[str, list[str]] = field(default_factory=dict)
    _turns: dict[str, int] = field(default_factory=dict)
    _round: int = 0

    def add(self, run: str, person: str) -> None:
        """Somebody asks for a run, be it the first to do so or not."""
        people = self._waiting.setdefault(run, [])
        if person not in people:
            people.append(person)

    def remove(self, run: str) -> None:
        """It is not to be run any more."""
        self._waiting.pop(run, None)

    def take(self) -> str | None:
        """The next run, which then waits no more; None if none does."""
        if not self._waiting:
            return None
        run, person = self._next(self._waiting, self._turns, self._round)
        self._round = max(self._turns.get(person, 0), self._round)
        self._turns[person] = self._round + 1
        del self._waiting[run]
        # Whoever is not ahead of the round is where everybody new is, too.
        self._turns = {who: turn for who, turn in self._turns.items() if turn > self._round}
        return run

    def order(self) -> list[str]:
        """The runs in the order in which they would be taken if nobody asked for another one."""
        ahead = Schedule(dict(self._waiting), dict(self._turns), self._round)
        return [run for run in iter(ahead.take, None) if run]

    def waiting_of(self, person: str) -> int:
        """How many runs somebody waits for."""
        return sum(person in people for people in self._waiting.values())

    def __len__(self) -> int:
        """How many runs wait."""
        return len(self._waiting)

    @staticmethod
    def _next(waiting: Mapping[str, list[str]], turns: Mapping[str, int], now: int) -> tuple[str, str]:
        """The run that is due first, the one that was asked for earliest among equals, and for whom."""
        due = (
            (max(turns.get(person, 0), now), at, run, person)
            for at, (run, people) in enumerate(waiting.items())
            for person in people
        )
        _, _, run, person = min(due)
        return run, person
