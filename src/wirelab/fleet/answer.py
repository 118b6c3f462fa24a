"""What an agent answers: a line of JSON, and after that of a run its bundle; read back, it is checked."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from wirelab.verdict.verdict import Verdict  # noqa: TC001 - pydantic needs it at run time


def printable(text: str) -> str:
    """A text of somebody else, without what a terminal would obey."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


Cpu = Annotated[int, Field(ge=0, lt=1 << 16)]
Text = Annotated[str, AfterValidator(printable)]


class Answer(BaseModel):
    """``error`` with a hint, or ``full``: what has no room; or who is there, or what came of a run."""

    model_config = ConfigDict(strict=True, frozen=True)

    error: Text = ""
    hint: Text | None = None
    full: Text = ""
    version: Text = ""
    code: Text = ""
    lab: Text = ""
    cpus: Annotated[tuple[Cpu, ...], Field(max_length=1 << 16)] = ()
    verdict: Verdict | None = None
    size_bytes: int = 0
    sha256: str = ""

    def line(self) -> bytes:
        """As it is sent."""
        return self.model_dump_json(exclude_unset=True).encode() + b"\n"
