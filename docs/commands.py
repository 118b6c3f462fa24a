"""The commands whose outputs stand in the documents: how they are run, kept and compared.

What they print is never written by hand: ``python -m docs.generate`` runs them, tests compare.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
EXAMPLES: Final = DOCS / "examples"
OUTPUTS: Final = DOCS / "outputs"
README: Final = ROOT / "README.md"

_COLUMNS: Final = 104
"""How wide the screen is: what fits beside the navigation of a page."""

_BLOCK_BYTES: Final = 65_536
_STYLES: Final = re.compile(r"\x1b\[[0-9;]*m")

_README_OUTPUT: Final = re.compile(
    r"(?<=<!-- --8<-- \[start:output\] -->\n```text\n).*?(?=```\n<!-- --8<-- \[end:output\] -->)", re.DOTALL
)

_MASKS: Final = (
    (re.compile(r"(?<=virtual s)(?: in [\d.]+ s(?: \([\d.]+ s each\))?|, cached: measured before)"), " ..."),
    (re.compile(r"\b\d{8}T\d{6}Z"), "DATE"),
)
"""What differs from run to run: how long it took on the wall's clock, and when it was."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of ours, run in an empty folder that holds ``files``: their names there, to examples.

    ``needs_lab``: what it prints was measured, or is about the lab. ``in_readme``: the README keeps the
    output, not ``outputs/``. ``shown`` is how many lines of it are kept, None for all.
    ``first`` are the command lines that make what it is about, ``typed`` an example whose lines are typed.
    """

    name: str
    line: str
    files: Mapping[str, str] = field(default_factory=dict)
    exit_code: int = 0
    needs_lab: bool = False
    in_readme: bool = False
    shown: int | None = None
    first: tuple[str, ...] = ()
    typed: str = ""

    @property
    def path(self) -> Path:
        """The file that keeps the output."""
        return README if self.in_readme else OUTPUTS / f"{self.name}.txt"

    def run(self, *, use_cache: bool = True) -> str:
        """The command line and what it prints, as a terminal shows them.

        Raises ValueError if it ends with another exit code than it should.
        """
        program, *arguments = shlex.split(self.line)
        if program != "wirelab":
            msg = f"{self.line}: only our own commands are run"
            raise ValueError(msg)
        if self.needs_lab and not use_cache and arguments[0] == "run":
            arguments.append("--no-cache")
        with tempfile.TemporaryDirectory() as folder:
            for name, example in self.files.items():
                target = Path(folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(EXAMPLES / example, target)
            for line in self.first:
                if on_a_terminal([sys.executable, "-m", *shlex.split(line)], Path(folder))[0]:
                    msg = f"{line} went wrong"
                    raise ValueError(msg)
            typed = (EXAMPLES / self.typed).read_bytes() if self.typed else b""
            argv = [sys.executable, "-m", "wirelab", *arguments]
            code, printed = on_a_terminal(argv, Path(folder), typed)
        if code != self.exit_code:
            msg = f"{self.line} ended with {code}, not {self.exit_code}:\n{printed}"
            raise ValueError(msg)
        lines = [line.rstrip() for line in printed.splitlines()]
        if self.shown is not None and len(lines) > self.shown:
            lines = [*lines[: self.shown], "..."]
        head = [] if self.in_readme else [f"$ {self.line}"]
        return "".join(f"{line}\n" for line in [*head, *lines])

    def stored(self) -> str:
        """The output as the documents have it; empty if they do not have it yet."""
        if self.in_readme:
            match = _README_OUTPUT.search(README.read_text(encoding="utf-8"))
            return match[0] if match else ""
        return self.path.read_text(encoding="utf-8") if self.path.exists() else ""

    def store(self, output: str) -> None:
        """Put the output into the documents."""
        if self.in_readme:
            text = _README_OUTPUT.sub(lambda _: output, README.read_text(encoding="utf-8"))
            README.write_text(text, encoding="utf-8")
            return
        OUTPUTS.mkdir(exist_ok=True)
        self.path.write_text(output, encoding="utf-8")


def on_a_terminal(argv: Sequence[str], folder: Path, typed: bytes = b"") -> tuple[int, str]:
    """Run a program in a folder. Returns its exit code and what it prints on a screen without colours.

    ``typed`` is its standard input. What it says on its standard error comes first: how far a run is would
    else be in the middle.
    """
    reader, screen = pty.openpty()
    ours = {"COLUMNS": str(_COLUMNS), "TERM": "xterm", "PYTHONPATH": str(ROOT / "src")}
    printed = bytearray()
    with (
        tempfile.TemporaryFile() as errors,
        _as_a_file(typed) as lines,
        subprocess.Popen(
            argv, cwd=folder, env={**os.environ, **ours}, stdin=lines, stdout=screen, stderr=errors
        ) as process,
    ):
        os.close(screen)
        # A terminal that nobody writes to any more is an error to its reader.
        with contextlib.suppress(OSError):
            while block := os.read(reader, _BLOCK_BYTES):
                printed += block
        code = process.wait()
        errors.seek(0)
        text = errors.read() + bytes(printed)
    os.close(reader)
    return code, _STYLES.sub("", text.decode()).replace("\r\n", "\n")


@contextlib.contextmanager
def _as_a_file(content: bytes) -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file


def masked(output: str) -> str:
    """An output without what differs from run to run."""
    for pattern, word in _MASKS:
        output = pattern.sub(word, output)
    return output


def _desk(step: int) -> dict[str, str]:
    """The files of the tutorial as they are after a step."""
    return {"topologies/desk.yaml": "desk/topology.yaml", "scenarios/desk.yaml": f"desk/step-{step}.yaml"}


_MODULE: Final = {"parts/mine.yaml": "module/part.yaml", "scenarios/my-module.yaml": "module/scenario.yaml"}
_FIREWALL: Final = {
    "parts/mine.yaml": "firewall/part.yaml",
    "scenarios/my-firewall.yaml": "firewall/scenario.yaml",
}

_COMPARED: Final = {f"{frames}.yaml": f"compare/{frames}.yaml" for frames in ("nine", "ten")}
_SIDES: Final = (("ten.yaml", "before"), ("nine.yaml", "after"))

LAB: Final = Command("lab", "wirelab --version", needs_lab=True)
"""What the measured outputs depend on."""

COMMANDS: Final = (
    LAB,
    Command("sfp-mismatch", "wirelab run sfp-mismatch", needs_lab=True, in_readme=True),
    Command(
        "desk-typo",
        "wirelab validate scenarios/desk.yaml",
        {**_desk(1), "scenarios/desk.yaml": "desk/typo.yaml"},
        exit_code=2,
    ),
    Command("desk-valid", "wirelab validate scenarios/desk.yaml topologies/desk.yaml", _desk(1)),
    Command("desk-1", "wirelab run desk", _desk(1), exit_code=1, needs_lab=True),
    Command("desk-2", "wirelab run desk", _desk(2), needs_lab=True),
    Command("desk-3", "wirelab run desk", _desk(3), exit_code=1, needs_lab=True),
    Command("desk-4", "wirelab run desk", _desk(4), needs_lab=True),
    Command(
        "capture",
        "wirelab capture sfp-mismatch --port module.host --port module.line"
        " --record 'first module.line.drops +-1 ms' -o drops.pcapng",
        needs_lab=True,
    ),
    Command(
        "graphs",
        "wirelab capture ten.yaml --record 'first module.line.drops +-5 ms' -o graphs.html",
        _COMPARED,
        needs_lab=True,
    ),
    Command(
        "compare",
        "wirelab compare before after",
        _COMPARED,
        exit_code=1,
        needs_lab=True,
        first=tuple(f"wirelab run {name} --seeds 5 -q --out {out}" for name, out in _SIDES),
    ),
    Command(
        "compare-frames",
        "wirelab compare before after --frames",
        _COMPARED,
        exit_code=1,
        needs_lab=True,
        first=tuple(f"wirelab run {name} -q --out {out}" for name, out in _SIDES),
    ),
    Command(
        "explain",
        "wirelab explain sfp-mismatch --variant main",
        needs_lab=True,
        first=("wirelab run sfp-mismatch -q",),
    ),
    Command(
        "explain-remedies",
        "wirelab explain sfp-flow-control-off --frames --remedies --most 4",
        needs_lab=True,
        first=("wirelab run sfp-flow-control-off -q",),
    ),
    Command(
        "explain-bufferbloat",
        "wirelab explain bufferbloat --variant fifo --remedies",
        needs_lab=True,
        first=("wirelab run bufferbloat -q",),
    ),
    Command("shell", "wirelab shell sfp-mismatch", needs_lab=True, typed="shell/first-drop.txt"),
    Command("exec", "wirelab exec -- mn --topo single,3 --test pingall", needs_lab=True),
    Command("mn-500-mbits", "wirelab exec -- mn --link tc,bw=500 --test pingpair", needs_lab=True, shown=11),
    Command("modprobe", "wirelab exec -- modprobe tcp_probe", exit_code=1, needs_lab=True),
    Command("parts-module", "wirelab parts module"),
    Command("parts-aqr113c", "wirelab parts aqr113c"),
    Command("my-module-part", "wirelab parts my-module", _MODULE),
    Command("my-module", "wirelab run my-module", _MODULE, needs_lab=True),
    Command("my-firewall", "wirelab run my-firewall", _FIREWALL, needs_lab=True),
)
