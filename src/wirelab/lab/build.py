"""Building a lab: its kernel and its root image, side by side."""

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Event

from wirelab.lab import kernel, packages, rootfs
from wirelab.lab.entry import Entry, intact
from wirelab.lab.recipe import BuildContext
from wirelab.lab.reporter import Reporter

Build = Callable[[BuildContext], Entry]


def found(
    context: BuildContext, series: str | None = None, *, from_source: bool = False
) -> tuple[Entry | None, Entry | None]:
    """The kernel and the root image that are there, else None; with ``from_source``, those built here."""
    entries = intact(kernel.find, context, series), intact(rootfs.find, context)
    built_kernel, built_root = (
        None if entry and from_source and entry.is_imported else entry for entry in entries
    )
    return built_kernel, built_root


def ensure(
    context: BuildContext, series: str | None = None, *, update: bool = False, from_source: bool = False
) -> tuple[Entry, Entry]:
    """The kernel and the root image, what is not there built from Debian's sources and packages.

    ``update`` asks apt again. Raises what `kernel.ensure` and `rootfs.ensure` do, before anything is built if
    a package of the host is missing.
    """
    built_kernel, built_root = (None, None) if update else found(context, series, from_source=from_source)
    builds: dict[str, Build] = {}
    if built_kernel is None:
        builds["kernel"] = lambda own: kernel.ensure(
            own, series=series, update=update, from_source=from_source
        )
    if built_root is None:
        builds["root image"] = lambda own: rootfs.ensure(own, update=update, from_source=from_source)
    packages.require(*groups_of(built_kernel, built_root))
    built = side_by_side(context, builds)
    return built_kernel or built["kernel"], built_root or built["root image"]


def groups_of(built_kernel: Entry | None, built_root: Entry | None) -> tuple[str, ...]:
    """The groups of packages of the host that it takes to build what is not there."""
    lacking = {"kernel": built_kernel is None, "root": built_root is None}
    return tuple(group for group, is_lacking in lacking.items() if is_lacking)


def side_by_side(context: BuildContext, builds: Mapping[str, Build]) -> dict[str, Entry]:
    """Make all builds at once, each in a lane of the reporter that has its name. Returns what they return.

    When one fails, or we are interrupted, the others are ended at the next line that their programs print.
    Raises what failed first.
    """
    if len(builds) <= 1:
        return {name: build(context) for name, build in builds.items()}
    ended = Event()
    with ThreadPoolExecutor(len(builds)) as pool:
        # The first one runs while the others are submitted, and an interrupt may come then.
        try:
            futures = {
                name: pool.submit(
                    build, replace(context, reporter=_Endable(context.reporter.lane(name), ended))
                )
                for name, build in builds.items()
            }
            done, _ = wait(futures.values(), return_when=FIRST_EXCEPTION)
        finally:
            ended.set()
    for future in done:
        future.result()
    return {name: future.result() for name, future in futures.items()}


class _EndedError(Exception):
    """Another build has failed: this one has nothing to say any more."""


class _Endable(Reporter):
    """Hands on what it hears, until it is told to end: then it ends whoever tells it something."""

    def __init__(self, inner: Reporter, ended: Event) -> None:
        self._inner = inner
        self._ended = ended

    def say(self, text: str) -> None:
        """Hand it on."""
        self._go_on()
        self._inner.say(text)

    def step(self, title: str, total: int | None = None) -> None:
        """Hand it on."""
        self._go_on()
        self._inner.step(title, total)

    def advance(self, done: int) -> None:
        """Hand it on."""
        self._go_on()
        self._inner.advance(done)

    def _go_on(self) -> None:
        if self._ended.is_set():
            raise _EndedError
