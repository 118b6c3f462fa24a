"""Who hears how a build goes."""

from collections.abc import Callable


class Reporter:
    """Hears of each step of a job, and of how much of it is done; this one shows nothing."""

    def say(self, text: str) -> None:
        """A remark worth a line of its own, such as what is being waited for."""

    def step(self, title: str, total: int | None = None) -> None:
        """A new step begins; the one before is done. ``total`` is None where nobody can know."""

    def advance(self, done: int) -> None:
        """So much of the current step is done, in the unit of its ``total``."""

    def lane(self, name: str) -> "Reporter":  # noqa: ARG002 - for those who show it
        """Who hears of one of several jobs that go on at once; its steps are told with the name."""
        return self


def counter(reporter: Reporter, title: str, total: int, prefix: str) -> Callable[[str], int]:
    """Begin a step that advances with every line that begins with ``prefix``, ``total`` in all likelihood.

    What is returned takes lines, and tells how many of these there were.
    """
    reporter.step(title, total)
    done = 0

    def count(line: str) -> int:
        nonlocal done
        done += line.startswith(prefix)
        # At every line: who listens may have reason to end the job.
        reporter.advance(min(done, total))
        return done

    return count
